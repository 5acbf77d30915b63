// A scripted agent repairs wrong queries through the tool check, by the official client: what
// models are told about a mistake is enough to mend it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { toCatalog } from '../../../src/catalog/catalog.js';
import type { CatalogName } from '../../../src/catalog/names.js';
import { NOTHING } from '../../../src/definitions/reader.js';
import { createLogger } from '../../../src/platform/log.js';
import { packageRoot } from '../../../src/platform/paths.js';
import { compile } from '../../../src/query/compile.js';
import type { Call } from '../../../src/query-api/mcp/call.js';
import { createAgentServer, type ServerDeps } from '../../../src/query-api/mcp/server.js';
import { createQueryMetrics } from '../../../src/query-api/metrics.js';
import { createPropertyGuesses } from '../../../src/query-api/property-guesses.js';
import { createQueryShares } from '../../../src/query-api/shares.js';
import { NOW_MS } from '../../golden/dataset.js';
import { CONTEXT } from '../../unit/query/compiling.js';
import { type Checked, repair } from './scripted-agent.js';

const events = ['page_view', 'signup', 'login', 'trial', 'add_to_cart', 'purchase', 'refund'];
const properties = [
  'event_properties.price',
  'event_properties.currency',
  'event_properties.plan',
  'user.plan',
  'user.email',
];
const values: Readonly<Record<string, readonly string[]>> = {
  _country: ['DE', 'US', 'FR'],
  _platform: ['web', 'ios', 'android'],
  'event_properties.currency': ['EUR', 'USD'],
  'event_properties.plan': ['free', 'pro'],
  'user.plan': ['free', 'pro'],
};

const NAMES: readonly CatalogName[] = [
  ...events.map((name) => ({ kind: 'event', field: 'event_type', name, events: 100 }) as const),
  ...properties.map(
    (field) => ({ kind: 'key', field, name: field.endsWith('price') ? 'number' : 'string', events: 100 }) as const,
  ),
  ...Object.entries(values).flatMap(([field, all]) =>
    all.map((name) => ({ kind: 'value', field, name, events: 100 }) as const),
  ),
];

const catalog = toCatalog(NAMES, true);

let client: Client;

beforeAll(async () => {
  const shares = createQueryShares({
    concurrency: 1,
    perProjectMax: 1,
    queueMax: 1,
    memoryBytes: 1,
    threads: async () => undefined,
  });
  const deps = {
    featuresOff: [],
    countCall: () => {},
    guesses: createPropertyGuesses(),
    catalogs: { read: async () => catalog, readNow: async () => catalog },
    definitions: { read: async () => NOTHING },
    metrics: createQueryMetrics(new Registry(), shares),
    log: createLogger({ process: 'test', level: 'fatal' }),
    now: () => NOW_MS,
  } as unknown as ServerDeps;
  const { projectId, timezone } = CONTEXT;
  const call = { credential: { projectId, timezone, scopes: new Set(['query']) } } as unknown as Call;
  const { fetch } = createMcpHandler(() => createAgentServer(deps, call));
  client = new Client({ name: 'scripted', version: '1' });
  await client.connect(
    new StreamableHTTPClientTransport(new URL('http://test/mcp'), {
      fetch: async (url, init) => fetch(new Request(url, init)),
    }),
  );
});

afterAll(() => client?.close());

async function check(q: string): Promise<Checked> {
  const { content, isError } = await client.callTool({ name: 'check', arguments: { q } });
  const text = content.map((block) => (block.type === 'text' ? block.text : '')).join('');
  return { text, isError: isError === true };
}

const questions = readFileSync(join(packageRoot, 'test', 'slow', 'agent', 'wrong-queries.txt'), 'utf8')
  .split('\n')
  .filter((line) => line.includes(' => '))
  .map((line) => {
    const at = line.lastIndexOf(' => ');
    return { written: line.slice(0, at), meant: line.slice(at + 4) };
  });

const statementOf = (q: string): string => JSON.stringify(compile(q, CONTEXT).statement);

/** The answer of the last call has no problem, and the query asks what was meant. */
async function isRepaired({ written, meant }: (typeof questions)[number]): Promise<boolean> {
  const { q, isClean } = await repair(written, { check, callsMax: 2 });
  return isClean && statementOf(q) === statementOf(meant);
}

test('all 100 queries are wrong: check names a problem or warns', async () => {
  expect(questions).toHaveLength(100);
  const said = await Promise.all(questions.map(async ({ written }) => ({ written, ...(await check(written)) })));
  expect(said.filter(({ isError, text }) => !isError && !text.includes('"warnings"'))).toEqual([]);
});

test('at least 80 of 100 wrong queries are repaired within two calls, to what they mean', async () => {
  const left: string[] = [];
  for (const question of questions) if (!(await isRepaired(question))) left.push(question.written);
  expect(left.length, `not repaired: ${left.join('; ')}`).toBeLessThanOrEqual(20);
});
