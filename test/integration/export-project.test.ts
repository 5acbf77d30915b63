// GET /api/export/…: all events of a project, its device mappings and profiles, and an import of
// them into another project.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { NewProject } from '../../src/accounts/store.js';
import { FairPlaces } from '../../src/platform/flow/fair-places.js';
import { exportIdentities } from '../../src/privacy/export-identities.js';
import { eventually } from '../support/eventually.js';
import {
  auditOf,
  databases,
  exportOf,
  fill,
  postgres,
  processes,
  project,
  startExports,
  untilStored,
} from '../support/exports.js';
import { askRows, identify, identifyBatch } from '../support/identify.js';
import { runScript } from '../support/run-script.js';
import { createTestProject, track } from '../support/track.js';

startExports();

type Line = Readonly<Record<string, unknown>>;

const ask = (path: string, key: string): Promise<Response> =>
  fetch(`${processes.url}/api/export/${path}`, { headers: { 'X-API-Key': key } });

async function linesOf(path: string, key: string): Promise<Line[]> {
  const response = await ask(path, key);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8');
  return (await response.text())
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Line);
}

const byId = (lines: readonly Line[]): Line[] =>
  [...lines].sort((a, b) => (String(a.insert_id) < String(b.insert_id) ? -1 : 1));

describe('all events of a project', () => {
  test('are those of its people and of unknown visitors, each as in the export of a person', async () => {
    const own = await createTestProject(databases, { ipPolicy: 'full' });
    const other = await createTestProject(databases);
    const event = {
      event_type: 'pay',
      time: '2026-11-01T08:00:00.500Z',
      event_properties: { price: 12.5, code: '007' },
    };
    await track(processes.url, other.publicKey, { ...event, insert_id: 'other', user_id: 'ada' });
    await track(processes.url, own.publicKey, {
      events: [
        { ...event, insert_id: 'a', user_id: 'ada' },
        { ...event, insert_id: 'b', user_id: 'bob', event_type: 'view' },
        { ...event, insert_id: 'c', device_id: 'phone' },
        { ...event, insert_id: 'd', time: '2025-01-01' },
      ],
    });
    await untilStored(own.id, 4);
    await untilStored(other.id, 1);
    const events = byId(await linesOf('events', own.secretKey));
    expect(events.map(({ insert_id: id }) => id)).toEqual(['a', 'b', 'c', 'd']);
    expect(events[0]).toEqual((await exportOf('ada', own.secretKey))[0]);
    expect(events[2]).toMatchObject({
      user_id: null,
      device_id: 'phone',
      event_properties: { price: 12.5, code: '007' },
    });
  });

  test('are limited to times, the end excluded', async () => {
    const own = await createTestProject(databases);
    const times = ['2026-10-31T23:59:59.999Z', '2026-11-01T00:00:00.000Z', '2026-11-01T10:30:00.000Z'];
    await track(processes.url, own.publicKey, {
      events: times.map((time) => ({ event_type: 'pay', time, insert_id: time })),
    });
    await untilStored(own.id, 3);
    const idsOf = async (query: string) =>
      byId(await linesOf(`events?${query}`, own.secretKey)).map(({ insert_id: id }) => id);
    expect(await idsOf('from=2026-11-01')).toEqual(times.slice(1));
    expect(await idsOf('to=2026-11-01')).toEqual(times.slice(0, 1));
    expect(await idsOf('from=2026-10-31&to=2026-11-01T10:30:00Z')).toEqual(times.slice(0, 2));
    expect(await idsOf('from=2026-11-01T11:30:00.001%2B01:00&to=9999-12-31')).toEqual([]);
    expect(await idsOf('from=2000-01-01&to=9999-12-31')).toEqual(times);
  });

  test('are not read for HEAD, which checks the request as GET does', async () => {
    const entries = async () => (await auditOf(project.id)).length;
    const before = await entries();
    const head = async (query: string) => {
      const headers = { 'X-API-Key': project.secretKey };
      const response = await fetch(`${processes.url}/api/export/events${query}`, { method: 'HEAD', headers });
      return [response.status, response.headers.get('content-type')];
    };
    expect(await head('')).toEqual([200, 'application/x-ndjson; charset=utf-8']);
    expect(await head('?from=yesterday')).toEqual([400, 'application/json; charset=utf-8']);
    expect(await entries()).toBe(before);
  });

  test.each([
    ['from=yesterday', 'from must be a day or a time from 2000 on, such as 2026-11-01 or 2026-11-01T08:00:00Z'],
    ['from=2026-11-01&to=2026-11-01', 'from must be before "to"'],
    ['since=2026-11-01', 'unknown parameter "since"; the route has from, to'],
  ])('are refused with ?%s', async (query, error) => {
    const response = await ask(`events?${query}`, project.secretKey);
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({ error });
  });

  test('come once each, also many of one hour and of one second', async () => {
    const own = await createTestProject(databases);
    // A tenth at one millisecond, the others in one hour: more than a page.
    const hour = { milliseconds: 'if(number % 10 = 0, 0, number % 3600000)', bytes: 10 };
    await fill('many', 210_000, { projectId: own.id, ...hour });
    await fill('later', 5, { projectId: own.id, milliseconds: 'number * 86400000 * 7' });
    const text = await (await ask('events', own.secretKey)).text();
    const ids = text.match(/"insert_id":"\d+","user_id":"\w+"/g);
    expect(ids).toHaveLength(210_005);
    expect(new Set(ids).size).toBe(210_005);
  }, 180_000);

  test('are recorded in the audit trail, with their range and number', async () => {
    const own = await createTestProject(databases);
    await track(processes.url, own.publicKey, { event_type: 'pay', time: '2026-11-01' });
    await untilStored(own.id, 1);
    await linesOf('events?from=2026-11-01', own.secretKey);
    const [requested, ended, ...more] = await auditOf(own.id);
    const id = expect.any(String);
    expect(requested).toMatchObject({ action: 'export.requested', outcome: 'accepted', subject: null });
    expect(requested?.details).toEqual({ export: id, of: 'events', from: '2026-11-01T00:00:00.000Z' });
    expect(ended).toMatchObject({ action: 'export.ended', outcome: 'completed' });
    expect(ended?.details).toEqual({ export: id, events: 1 });
    expect(more).toEqual([]);
  });

  test('break off when the project is deleted meanwhile', async () => {
    const own = await createTestProject(databases);
    await fill('many', 40_000, { projectId: own.id });
    const response = await ask('events', own.secretKey);
    const reader = response.body?.getReader();
    await reader?.read();
    await postgres('projects').where({ id: own.id }).update({ deleted_at: new Date() });
    const readOn = async () => {
      while ((await reader?.read())?.done === false);
    };
    await expect(readOn()).rejects.toThrow('terminated');
    await eventually(async () => expect((await auditOf(own.id)).at(-1)?.outcome).toBe('failed'));
  }, 60_000);
});

describe('identities of a project', () => {
  test('are the last mapping of each device, and the properties of each user by their times', async () => {
    const own = await createTestProject(databases);
    const day = (n: number) => `2026-11-0${n}T00:00:00.000Z`;
    await identifyBatch(processes.url, own.secretKey, [
      { user_id: 'ada', device_id: 'phone', time: day(1) },
      { user_id: 'bob', device_id: 'phone', time: day(2), user_properties: { plan: 'free' } },
      { user_id: 'bob', time: day(3), user_properties: { plan: 'pro', tags: ['a', 'b'] } },
      { user_id: 'bob', time: day(4), user_properties: { seats: 3 } },
    ]);
    await eventually(async () => expect(await linesOf('identities', own.secretKey)).toHaveLength(5));
    const lines = await linesOf('identities', own.secretKey);
    expect(lines).toEqual([
      { user_id: 'bob', device_id: 'phone', time: day(2) },
      { user_id: 'ada', time: day(1), user_properties: {} },
      { user_id: 'bob', time: day(3), user_properties: { plan: 'pro', tags: '["a","b"]' } },
      { user_id: 'bob', time: day(4), user_properties: { seats: 3 } },
      { user_id: 'bob', time: day(2), user_properties: {} },
    ]);
    expect((await auditOf(own.id)).at(-1)?.details).toEqual({ export: expect.any(String), lines: 5 });
  });

  test('wait for a place of the exports, and need none while their reader is slow', async () => {
    const own = await createTestProject(databases);
    await identifyBatch(processes.url, own.secretKey, [{ user_id: 'ada', time: '2026-11-01' }]);
    await eventually(async () => expect(await linesOf('identities', own.secretKey)).toHaveLength(1));
    const places = new FairPlaces(1);
    const { signal } = new AbortController();
    const held = await places.acquire(project.id, signal);
    const lines = exportIdentities({ postgres, places }, own.id, signal);
    const first = lines.next();
    await eventually(() => expect(places.isAnyWaiting).toBe(true));
    held.release();
    expect(String((await first).value)).toContain('"ada"');
    (await places.acquire(project.id, signal)).release();
    await lines.return(undefined);
  });

  test('have several pages, also of large profiles', async () => {
    const own = await createTestProject(databases);
    await postgres.raw(
      `INSERT INTO device_mappings (project_id, device_id, seq, user_id)
       SELECT ?, 'd' || n, 1790000000000000 + n, 'u' || n % 500 FROM generate_series(1, 12000) AS n`,
      [own.id],
    );
    await postgres.raw(
      `INSERT INTO profiles (project_id, user_id, properties, first_seen, last_seen, version, checkpoint_seq)
       SELECT ?, 'u' || n, jsonb_build_object('text', repeat('x', 200000)), '2026-11-01', '2026-11-01', n, 0
       FROM generate_series(0, 499) AS n`,
      [own.id],
    );
    const lines = await linesOf('identities', own.secretKey);
    expect(lines).toHaveLength(12_500);
    expect(new Set(lines.map((line) => line.device_id ?? line.user_id)).size).toBe(12_500);
  });
});

describe('an export that is imported into another project', () => {
  const QUESTIONS = [
    '* | from 2026-01-01 to 2027-01-01 | count by event_type',
    '* | from 2026-01-01 to 2027-01-01 | unique distinct_id',
    '* | from 2026-01-01 to 2027-01-01 | count by user.plan, _country, _browser, _ingest_origin',
    '* | from 2026-01-01 to 2027-01-01 | sum price by distinct_id',
    'users | count by user.plan, user.seats',
  ];
  const answersOf = ({ secretKey }: NewProject) =>
    Promise.all(
      QUESTIONS.map(async (q) => (await askRows(processes.url, secretKey, q)).map((row) => JSON.stringify(row)).sort()),
    );

  test('gives the same answers there, and counts once when it is imported twice', async () => {
    const [from, to] = [await createTestProject(databases), await createTestProject(databases)];
    await identify(processes.url, from.publicKey, {
      ...{ user_id: 'ada', device_id: 'phone', user_properties: { plan: 'pro' } },
      user_property_ops: { $add: { seats: 3 }, $set_once: { source: 'ad' } },
    });
    await identify(processes.url, from.publicKey, { user_id: 'ada', user_property_ops: { $add: { seats: 2 } } });
    await track(
      processes.url,
      from.publicKey,
      {
        events: Array.from({ length: 60 }, (_, n) => ({
          ...{
            event_type: n % 3 === 0 ? 'pay' : 'view',
            time: `2026-11-0${(n % 9) + 1}T10:00:00Z`,
            insert_id: `i${n}`,
          },
          ...(n % 4 === 0 ? { user_id: 'bob' } : { device_id: n % 4 === 1 ? 'phone' : `d${n % 7}` }),
          ...(n % 2 === 0 && { clientOriginated: true }),
          event_properties: { price: n / 4, note: n % 5 === 0 ? null : '12', url: 'https://x.example/a?utm_source=s' },
        })),
      },
      { 'X-Forwarded-For': '203.0.113.77', 'X-Country': 'DE', 'User-Agent': 'curl/8.5.0' },
    );
    await untilStored(from.id, 60);
    await eventually(async () =>
      expect(await askRows(processes.url, from.secretKey, 'users | count')).toMatchObject([{ count: 1 }]),
    );

    const folder = mkdtempSync(join(tmpdir(), 'export-'));
    try {
      for (const name of ['events', 'identities']) {
        writeFileSync(join(folder, `${name}.ndjson`), await (await ask(name, from.secretKey)).text());
      }
      const command = ['dist/cli/import.js', 'event-analytics', folder, '--url', processes.url, '--key', to.secretKey];
      for (let time = 0; time < 2; time += 1) {
        const { status, output } = await runScript(command, {});
        expect(output).toContain('60');
        expect(status).toBe(0);
        await eventually(async () => expect(await answersOf(to)).toEqual(await answersOf(from)), 30_000);
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  }, 120_000);
});
