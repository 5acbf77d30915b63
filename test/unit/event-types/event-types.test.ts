// Types of a project's events: what is written, and that a compiler rejects another event or
// property in the Node client and the browser script.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { type ProjectTypes, readProjectTypes } from '../../../src/event-types/model.js';
import { toPython } from '../../../src/event-types/python.js';
import { toTypeScript } from '../../../src/event-types/typescript.js';
import { packageRoot } from '../../../src/platform/paths.js';

const TYPES: ProjectTypes = {
  events: [
    { name: 'Sign up', properties: [{ key: 'Button "Name"', types: ['null', 'string', 'number'] }] },
    { name: 'invited', properties: undefined },
    { name: 'sign-up', properties: [] },
    {
      name: 'signup',
      properties: [
        { key: 'plan', types: ['string'] },
        { key: 'seats', types: ['number'] },
        { key: 'unknown', types: ['null'] },
      ],
    },
  ],
  metrics: ['activation'],
  cohorts: [],
};

const folder = mkdtempSync(join(tmpdir(), 'event-types-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('TypeScript names what is no identifier in quotes', () => {
  const text = toTypeScript(TYPES);
  expect(text).toContain('  "Sign up": {\n    "Button \\"Name\\""?: number | string | null;\n  };');
  expect(text).toContain('  signup: {\n    plan?: string;\n    seats?: number;\n    unknown?: unknown;\n  };');
  expect(text).toContain('  invited: Record<string, unknown>;\n  "sign-up": Record<string, never>;');
  expect(text).toContain('export type Metric = "activation";\nexport type Cohort = never;');
});

test('Python runs what is written, and knows every event by its own class', () => {
  writeFileSync(join(folder, 'events.py'), toPython(TYPES));
  const code =
    'import events; print(events.InvitedProperties, events.EventName.__args__, events.SignUp2.__name__, ' +
    'sorted(events.SignUpProperties.__annotations__), events.Signup.__annotations__["event_type"].__args__)';
  const { stdout, stderr } = spawnSync('python3', ['-c', code], { cwd: folder, encoding: 'utf8' });
  expect(stderr).toBe('');
  expect(stdout).toBe(
    `typing.Dict[str, typing.Any] ('Sign up', 'invited', 'sign-up', 'signup') SignUp2 ['Button "Name"'] ('signup',)\n`,
  );
});

test('a wrong event, property or type is a compile error', { timeout: 60_000 }, () => {
  const client = join(packageRoot, 'clients/node/src/index.js');
  const script = join(packageRoot, 'clients/browser/service.js');
  writeFileSync(join(folder, 'events.ts'), toTypeScript(TYPES));
  const lines = [
    `import { Client } from '${client}';`,
    `import type { Service } from '${script}';`,
    "import type { Events } from './events.js';",
    'declare const client: Client<Events>; declare const service: Service<Events>; declare const any: Client;',
    "client.track({ event_type: 'signup', user_id: 'a', event_properties: { plan: 'pro' } });",
    "service.track('signup', { seats: 3 }); service.push(['track', 'Sign up']);",
    "client.track({ event_type: 'invited', event_properties: { by: 'ada', times: 2 } });",
    "any.track({ event_type: 'whatever', event_properties: { a: { b: 1 } } });",
    "client.track({ event_type: 'singup' });",
    "client.track({ event_type: 'signup', event_properties: { seat: 3 } });",
    "client.trackBatch([{ event_type: 'signup', event_properties: { seats: 'three' } }]);",
    "service.track('singup');",
    "service.track('signup', { seat: 3 });",
    "service.push(['track', 'singup']);",
  ];
  writeFileSync(join(folder, 'app.ts'), lines.join('\n'));
  const options = [
    '--noEmit',
    '--strict',
    '--target',
    'es2022',
    '--module',
    'nodenext',
    '--types',
    'node',
    '--pretty',
    'false',
  ];
  const roots = ['--typeRoots', join(packageRoot, 'node_modules/@types')];
  const compiler = join(packageRoot, 'node_modules/typescript/bin/tsc');
  const { stdout } = spawnSync(process.execPath, [compiler, ...options, ...roots, 'app.ts'], {
    cwd: folder,
    encoding: 'utf8',
  });
  const wrong = [...stdout.matchAll(/app\.ts\((\d+),/g)].map(([, line]) => Number(line));
  expect({ wrong: [...new Set(wrong)], elsewhere: stdout.match(/^(?!app\.ts| ).*error.*$/m) }).toEqual({
    wrong: [9, 10, 11, 12, 13, 14],
    elsewhere: null,
  });
});

test('an event without events in the range may have any properties, and one without properties has none', async () => {
  const catalog = {
    events: [{ event_type: 'old' }, { event_type: 'bare' }],
    definitions: { metrics: [], cohorts: [] },
  };
  const { events } = await readProjectTypes(async (path, body) => {
    if (path === '/catalog') return catalog;
    return { rows: JSON.stringify(body).includes('count by event_type') ? [{ event_type: 'bare', count: 3 }] : [] };
  });
  expect(events).toEqual([
    { name: 'bare', properties: [] },
    { name: 'old', properties: undefined },
  ]);
});

test('an event that the catalog does not have yet is read', async () => {
  const { events } = await readProjectTypes(async (path, body) => {
    if (path === '/catalog') return { events: [], definitions: { metrics: [], cohorts: [] } };
    if (JSON.stringify(body).includes('count by event_type')) return { rows: [{ event_type: 'signup' }] };
    return { rows: [{ property: 'event_properties.plan', types: ['string'] }] };
  });
  expect(events).toEqual([{ name: 'signup', properties: [{ key: 'plan', types: ['string'] }] }]);
});

test('all properties of an event are read, in as many answers as it takes', async () => {
  const rows = Array.from({ length: 25_000 }, (_, n) => ({ property: `event_properties.k${n}`, types: ['string'] }));
  const catalog = { events: [{ event_type: 'signup' }], definitions: { metrics: [], cohorts: [] } };
  const { events } = await readProjectTypes(async (path, body) => {
    if (path === '/catalog') return catalog;
    const { q, limit, offset = 0 } = body as { q: string; limit: number; offset?: number };
    if (q.includes('count by event_type')) return { rows: [{ event_type: 'signup' }] };
    return { rows: rows.slice(offset, offset + Math.min(limit, 10_000)) };
  });
  expect(events[0]?.properties).toHaveLength(rows.length);
});
