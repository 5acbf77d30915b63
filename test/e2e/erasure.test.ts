// Erasure during heavy ingestion, with killed workers and a killed engine; and after the purge
// every file of the data directory is searched for erased texts, and for those of expired events.
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ClickHouseClient, createClickHouse } from '../../src/platform/clickhouse/client.js';
import { parseConfig } from '../../src/platform/config.js';
import { createPostgres, type Postgres } from '../../src/platform/postgres/client.js';
import { createRedis, type Redis } from '../../src/platform/redis/client.js';
import { eventually } from '../support/eventually.js';
import { DAY_MS, startNight, startOfToday } from '../support/keeping.js';
import { readFilesUnder } from '../support/search-files.js';
import { type StandaloneKeys, startStandalone, type TestStandalone } from '../support/stack-standalone.js';

const directory = mkdtempSync(join(tmpdir(), 'event-analytics-e2e-'));
let standalone: TestStandalone;
let file: StandaloneKeys;
let clickhouse: ClickHouseClient;
let postgres: Postgres;
let redis: Redis;

beforeAll(async () => {
  // The tests poll many times a second, and repeat requests that fail because of killed processes.
  const limits = { ERASURES_PER_MINUTE: '1000000', PRIVACY_READS_PER_MINUTE: '1000000' };
  standalone = await startStandalone({ dataDirectory: directory, env: { PRIVACY_PURGE_DELAY_MS: '0', ...limits } });
  file = await standalone.ready();
  const config = parseConfig(JSON.parse(readFileSync(join(directory, 'service-environment.json'), 'utf8')));
  clickhouse = createClickHouse(config);
  postgres = createPostgres(config);
  redis = createRedis(config);
  // The search does not read compressed text, and old files are removed at once.
  for (const table of ['events', 'device_map', 'profiles']) {
    const ids = { events: ['user_id', 'device_id', 'insert_id'], device_map: ['user_id'], profiles: ['email'] }[table];
    for (const column of ids ?? []) await run(`ALTER TABLE ${table} MODIFY COLUMN ${column} String CODEC(NONE)`);
    const settings = 'old_parts_lifetime = 1, cleanup_delay_period = 1, max_cleanup_delay_period = 2';
    await run(`ALTER TABLE ${table} MODIFY SETTING ${settings}`);
  }
});

afterAll(async () => {
  await clickhouse?.close();
  await postgres?.destroy();
  redis?.disconnect();
  standalone?.signal('SIGTERM');
  await standalone?.ended();
  rmSync(directory, { recursive: true, force: true });
});

const run = (query: string) => clickhouse.command({ query });

async function call(path: string, init: { method?: string; body?: object } = {}): Promise<Record<string, unknown>> {
  const response = await fetch(file.url + path, {
    method: init.method ?? (init.body === undefined ? 'GET' : 'POST'),
    headers: { 'X-API-Key': file.secret_key, 'Content-Type': 'application/json' },
    ...(init.body !== undefined && { body: JSON.stringify(init.body) }),
  });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  return (await response.json()) as Record<string, unknown>;
}

/** Requests may fail while processes are killed; the client repeats them. */
const persist = <T>(attempt: () => Promise<T>): Promise<T> => eventually(attempt, 60_000);
const erase = (userId: string) => persist(() => call(`/api/gdpr/users/${userId}`, { method: 'DELETE' }));

const reached = (requestId: unknown, statuses: readonly string[]) =>
  eventually(async () => {
    const answer = await call(`/api/gdpr/requests/${String(requestId)}`);
    expect(statuses).toContain(answer.status);
  }, 120_000);

async function countEvents(condition: string): Promise<number> {
  const result = await clickhouse.query({
    query: `SELECT count() AS n FROM events WHERE ${condition}`,
    // A list of ids may be long.
    clickhouse_settings: { max_query_size: '100000000' },
    format: 'JSONEachRow',
  });
  return Number((await result.json<{ n: string }>())[0]?.n);
}

/**
 * Sends two events of each person per request until stopped, and records the time of acceptance.
 */
function sendForever(people: readonly string[]) {
  const accepted: { insertId: string; userId: string; at: number }[] = [];
  let isStopped = false;
  const sending = (async () => {
    for (let number = 0; !isStopped; number += 1) {
      const events = people.flatMap((userId) =>
        ['a', 'b'].map((part) => ({ event_type: 'load', user_id: userId, insert_id: `${userId}-${number}-${part}` })),
      );
      await persist(() => call('/track', { body: { events } }));
      const at = Date.now();
      accepted.push(...events.map((event) => ({ insertId: event.insert_id, userId: event.user_id, at })));
    }
  })();
  return {
    accepted,
    stop: async () => {
      isStopped = true;
      await sending;
    },
  };
}

async function killed(name: string): Promise<void> {
  const pid = standalone.pids().get(name) ?? 0;
  process.kill(pid, 'SIGKILL');
  await eventually(() => expect(standalone.pids().get(name) ?? pid).not.toBe(pid), 60_000);
}

test('erasures are complete while events arrive, workers are killed and ClickHouse restarts', async () => {
  const [comesBack, worker, engine] = ['comes-back', 'worker-is-killed', 'engine-is-killed'];
  const load = sendForever(['stays', comesBack, worker, engine]);
  await eventually(() => expect(load.accepted.length).toBeGreaterThan(200));

  const begun = Date.now();
  const receipt = await erase(comesBack);
  const answered = Date.now();
  expect(receipt.status).toBe('deleted');

  const requests: unknown[] = [receipt.request_id];
  for (const [name, userId, afterMs] of [
    ['worker', worker, 30],
    ['worker', worker, 150],
    ['clickhouse', engine, 60],
  ] as const) {
    const asked = erase(userId);
    await delay(afterMs);
    await killed(name);
    const { request_id: id } = await asked;
    requests.push(id);
    await reached(id, ['deleted', 'purged']);
  }
  await load.stop();

  const after = load.accepted.filter(({ userId, at }) => userId === comesBack && at > answered);
  const before = load.accepted.filter(({ userId, at }) => userId === comesBack && at < begun);
  expect(Math.min(after.length, before.length)).toBeGreaterThan(10);
  const staying = load.accepted.filter(({ userId }) => userId === 'stays');
  await eventually(async () => expect(await countEvents("user_id = 'stays'")).toBe(staying.length), 60_000);
  const listed = (events: readonly { insertId: string }[]) => events.map(({ insertId }) => `'${insertId}'`).join(',');
  expect(await countEvents(`insert_id IN (${listed(before)})`)).toBe(0);
  // Events of the request in flight at the response may be stored or erased.
  expect(await countEvents(`insert_id IN (${listed(after.slice(2))})`)).toBe(after.length - 2);
  for (const id of requests) await reached(id, ['purged']);
}, 480_000);

/**
 * Writes rows to their files. The log has only the changed bytes of an updated row, and the catalog
 * may be updated at any time: before each look.
 */
const flushPostgres = () => postgres.raw('CHECKPOINT');

/** Which of the texts occur, and in which files of the data directory. */
function search(texts: readonly string[]): Map<string, string[]> {
  const found = new Map<string, string[]>(texts.map((text) => [text, []]));
  for (const { path, bytes } of readFilesUnder(directory)) {
    for (const text of texts) if (bytes.includes(text)) found.get(text)?.push(relative(directory, path));
  }
  return found;
}

test('after the purge no file contains an id or property of the person', async () => {
  const distinctive = (name: string) => `${name}-${randomBytes(12).toString('hex')}`;
  const [userId, deviceId, anonymous] = [distinctive('person'), distinctive('device'), distinctive('insert')];
  const [insertId, queued, email] = [
    distinctive('insert'),
    distinctive('queued'),
    `${distinctive('mail')}@example.com`,
  ];
  // Stored uncompressed only in the catalog.
  const nickname = distinctive('nickname');
  const texts = [userId, deviceId, anonymous, insertId, email, nickname];
  const other = distinctive('other');
  await call('/identify', { body: { user_id: userId, device_id: deviceId, user_properties: { email } } });
  await call('/identify', { body: { user_id: userId, user_properties: { visits: 2 } } });
  const events = [
    { event_type: 'searched', user_id: userId, insert_id: insertId, event_properties: { nickname } },
    { event_type: 'searched', device_id: deviceId, insert_id: anonymous },
    { event_type: 'searched', user_id: other, insert_id: queued },
    { event_type: '', user_id: userId },
  ];
  await call('/track', { body: { events } });
  await eventually(async () => {
    expect(await countEvents("event_type = 'searched'")).toBe(3);
    expect((await call('/query', { body: { q: `user "${userId}" | count`, format: 'json' } })).rows).toMatchObject([
      { value: 2 },
    ]);
    const result = await clickhouse.query({ query: `SELECT 1 FROM profiles WHERE user_id = '${userId}'` });
    expect((await result.json()).rows).toBeGreaterThan(0);
    expect(JSON.stringify(await call('/catalog'))).toContain(nickname);
  });
  // The statistics of PostgreSQL's planner are on disk as well.
  await postgres.raw('ANALYZE');
  // A merge may replace a file while the files are read.
  await eventually(async () => {
    await flushPostgres();
    const before = search(texts);
    for (const text of [userId, deviceId]) {
      for (const engine of ['clickhouse', 'postgres', 'redis']) {
        expect(before.get(text)).toContainEqual(expect.stringMatching(new RegExp(`^${engine}/`)));
      }
    }
    expect([...before.values()].filter((places) => places.length === 0)).toEqual([]);
    expect(before.get(userId)).toContainEqual(expect.stringMatching(/^postgres\/pg_wal\//));
    expect(before.get(nickname)).toContainEqual(expect.stringMatching(/^postgres\/base\//));
  }, 120_000);

  const { request_id: id, ...receipt } = await erase(userId);
  expect(receipt).toMatchObject({ status: 'deleted', events: 2, mappings: 1, profiles: 1, devices: 1 });
  await reached(id, ['purged']);
  await eventually(() => {
    const left = [...search(texts)].filter(([, places]) => places.length > 0);
    expect(left).toEqual([]);
  }, 30_000);
  expect(search([other, queued]).get(other)).not.toEqual([]);
}, 360_000);

test('after the night no file contains what is behind the edge of keep', async () => {
  const today = await startOfToday();
  const distinctive = (name: string) => `${name}-${randomBytes(12).toString('hex')}`;
  const view = (days: number, name: string) => ({
    ...{ event_type: 'kept', time: new Date(today - days * DAY_MS).toISOString() },
    ...{ user_id: distinctive(`${name}-user`), insert_id: distinctive(`${name}-insert`) },
    event_properties: { nickname: distinctive(`${name}-nickname`) },
  });
  const textsOf = (event: ReturnType<typeof view>) => [event.user_id, event.insert_id, event.event_properties.nickname];
  // One is alone in its part, which is dropped; the other shares one with an event that stays, and
  // which is rewritten.
  const [old, behind, stays] = [view(800, 'old'), view(91, 'behind'), view(91, 'stays')];
  const events = [old, behind, { ...stays, event_type: 'order' }];
  await call('/track', { body: { events } });
  const [gone, kept] = [[old, behind].flatMap(textsOf), textsOf(stays)];
  await eventually(async () => {
    expect(await countEvents("event_type IN ('kept', 'order')")).toBe(3);
    // Nicknames are stored uncompressed only in the catalog, each at its time.
    const catalog = JSON.stringify(await call('/catalog'));
    for (const { event_properties: properties } of events) expect(catalog).toContain(properties.nickname);
  }, 120_000);
  await postgres.raw('ANALYZE');
  // A merge may replace a file while the files are read.
  const areInFiles = (texts: readonly string[]) =>
    eventually(async () => {
      await flushPostgres();
      expect([...search(texts)].filter(([, places]) => places.length === 0)).toEqual([]);
    }, 120_000);
  await areInFiles([...gone, ...kept]);

  const yaml = 'version: 1\nkeep: { kept: 90d }\n';
  await call('/api/definitions', { method: 'PUT', body: { source_yaml: yaml } });
  const { project_id: projectId } = await postgres('definitions').first('project_id');
  await startNight({ postgres, redis }, projectId);
  await eventually(async () => {
    expect((await call('/api/definitions/keep')).receipts).toMatchObject([{ events: 2, status: 'purged' }]);
  }, 240_000);
  await eventually(() => {
    expect([...search(gone)].filter(([, places]) => places.length > 0)).toEqual([]);
  }, 30_000);
  // The catalog has forgotten all values, and finds those that are left again. It rests after each
  // rebuild, twenty times as long as that took: minutes on a busy machine.
  await eventually(async () => {
    await postgres('catalog_projects')
      .where({ project_id: projectId })
      .update({ rebuild_after: new Date(0) });
    expect(JSON.stringify(await call('/catalog'))).toContain(stays.event_properties.nickname);
  }, 120_000);
  await areInFiles(kept);
}, 300_000);
