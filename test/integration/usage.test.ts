// Usage by day: counted at acceptance, rolled up by a job, returned by the routes; and the monthly
// allowance.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { NewProject } from '../../src/accounts/store.js';
import { toCanaryEnvelope } from '../../src/ingest/canary.js';
import { createIngestQueue, enqueueIngest } from '../../src/ingest/queue.js';
import type { Shards } from '../../src/platform/clickhouse/shards.js';
import { createPostgres, type Postgres } from '../../src/platform/postgres/client.js';
import { createRedis, type Redis } from '../../src/platform/redis/client.js';
import { executed } from '../../src/platform/redis/transaction.js';
import type { UsageDay } from '../../src/usage/answers.js';
import { countAccepted, readCounts } from '../../src/usage/counters.js';
import { rollUpCounts, rollUpStored } from '../../src/usage/rollup.js';
import { readUsage, saveCounts } from '../../src/usage/store.js';
import { createTeam, createTeamProject, send, type TestTeam } from '../support/accounts.js';
import { eventually } from '../support/eventually.js';
import { openShards } from '../support/shards.js';
import { createTestDatabases, type ProcessGroup, startProcesses, type TestDatabases } from '../support/stack.js';
import { type EventStore, openEventStore, track } from '../support/track.js';

const DAY_MS = 24 * 60 * 60_000;

let databases: TestDatabases;
let postgres: Postgres;
let redis: Redis;
let shards: Shards;
let store: EventStore;
let processes: ProcessGroup;
let team: TestTeam;
let project: NewProject;

beforeAll(async () => {
  databases = await createTestDatabases({ EVENTS_PER_MONTH_MAX: '10' });
  postgres = createPostgres(databases.config);
  redis = createRedis(databases.config);
  shards = openShards(databases.config);
  store = openEventStore(databases);
  team = await createTeam(postgres);
  project = await createTeamProject(postgres, databases, team.organization.id);
  processes = await startProcesses(databases.env);
});

afterAll(async () => {
  await processes?.stop();
  await store?.client.close();
  await shards?.close();
  redis?.disconnect();
  await postgres?.destroy();
  await databases?.close();
});

const day = (age: number, now = Date.now()): string => new Date(now - age * DAY_MS).toISOString().slice(0, 10);

const usage = (query = '', of: TestTeam = team, { id }: NewProject = project) =>
  send(processes.url, `GET /api/projects/${id}/usage${query}`, { session: of.people.member.session });

describe('GET /usage', () => {
  test('counts accepted events, stored events and queries, and /track answers 403 above the allowance', async () => {
    // An organization of its own: a second attempt of this test begins at zero.
    const one = await createTeam(postgres);
    const spent = await createTeamProject(postgres, databases, one.organization.id);
    const event = { event_type: 'x', insert_id: 'same', time: '2026-01-01T00:00:00Z' };
    for (const body of [event, event, { events: [{ event_type: 'y' }, { event_type: '' }] }]) {
      expect((await track(processes.url, spent.publicKey, body)).status).toBe(200);
    }
    const body = { q: '* | count', format: 'json' };
    await send(processes.url, 'POST /query', { key: spent.secretKey, body });
    await send(processes.url, `POST /api/projects/${spent.id}/query`, { session: one.people.owner.session, body });
    await send(processes.url, 'POST /query', { key: spent.secretKey, body: { q: 'not | a | query' } });
    await eventually(async () => {
      const { body: days } = await usage(`?from=${day(0)}`, one, spent);
      expect(days).toEqual([{ date: day(0), events_ingested: 3, events_stored: 2, queries_run: 2 }]);
    }, 120_000);

    expect((await track(processes.url, spent.publicKey, { event_type: 'z' })).status).toBe(200);
    await postgres('usage_days').where({ project_id: spent.id }).update({ events_stored_max: 10 });
    await eventually(async () => {
      expect(await track(processes.url, spent.publicKey, { event_type: 'z' })).toMatchObject({
        status: 403,
        body: { error: 'monthly event quota exceeded' },
      });
    });
    expect((await send(processes.url, 'POST /query', { key: spent.secretKey, body })).status).toBe(200);
  }, 180_000);

  test('returns every day from the first of the month to today by default', async () => {
    const today = day(0);
    const { body } = await usage();
    expect(body.map(({ date }: UsageDay) => date)).toEqual(
      Array.from(
        { length: Number(today.slice(8)) },
        (_, index) => `${today.slice(0, 8)}${String(index + 1).padStart(2, '0')}`,
      ),
    );
    const february = await usage('?from=2024-02-28&to=2024-03-01');
    expect(february.body.map(({ date }: UsageDay) => date)).toEqual(['2024-02-28', '2024-02-29', '2024-03-01']);
    expect(february.body[1]).toEqual({ date: '2024-02-29', events_ingested: 0, events_stored: 0, queries_run: 0 });
    expect((await usage('?to=2024-02-02')).body).toHaveLength(2);
  });

  test.each([
    ['?from=yesterday', 'from is a date written as YYYY-MM-DD'],
    ['?from=2026-02-29', 'from is a date written as YYYY-MM-DD'],
    ['?to=2026-1-1', 'to is a date written as YYYY-MM-DD'],
    ['?from=1999', 'from is a date written as YYYY-MM-DD'],
    ['?from=', 'from is a date written as YYYY-MM-DD'],
    ['?from=2026-01-02&to=2026-01-01', 'from (2026-01-02) is after to (2026-01-01)'],
    ['?from=2020-01-01&to=2026-01-01', 'the range is longer than 400 days'],
    ['?from=0001-01-01&to=0001-01-02', 'from is before 2000-01-01; to is before 2000-01-01'],
    ['?from=2026-01-01&from=2026-01-02', 'from is a date written as YYYY-MM-DD'],
  ])('answers 400 to %s: %s', async (query, error) => {
    expect(await usage(query)).toEqual({ status: 400, body: { error } });
  });
});

const deps = () => ({ redis, postgres, shards });

/** Usage of a project, of days before `now`. */
const usageOf = (id: NewProject['id'], now: Date) => ({
  async count(age: number, events: number) {
    const transaction = redis.multi();
    countAccepted(transaction, [{ projectId: id, events, at: now.getTime() - age * DAY_MS }]);
    await executed(transaction);
  },
  async read(age: number) {
    const range = { from: day(age, now.getTime()), to: day(age, now.getTime()) };
    return (await readUsage(postgres, id, range))[0];
  },
  insert: (events: readonly [age: number, insertId: string][]) =>
    store.client.insert({
      table: 'events',
      format: 'JSONEachRow',
      values: events.map(([age, insertId]) => ({
        project_id: id,
        event_type: 'x',
        time: '2024-01-01 00:00:00.000',
        insert_id: insertId,
        received_at: new Date(now.getTime() - age * DAY_MS).toISOString().replace('T', ' ').replace('Z', ''),
      })),
    }),
});

describe('rollup of usage', () => {
  // Another month, because the processes of the tests above roll up as well.
  const now = new Date('2025-06-15T12:00:00Z');
  const other = { id: '0197f000-0000-7000-8000-000000000001' as NewProject['id'] };
  const { count, read, insert } = usageOf(other.id, now);

  test('countAccepted() counts each request for its project and day', async () => {
    const midnight = Date.parse('2025-05-02T00:00:00Z');
    const transaction = redis.multi();
    countAccepted(transaction, [
      { projectId: 'one', events: 1, at: midnight - 1 },
      { projectId: 'one', events: 2, at: midnight },
      { projectId: 'two', events: 30, at: midnight },
      { projectId: 'one', events: 4, at: midnight + 1 },
    ]);
    await executed(transaction);
    expect((await readCounts(redis, '2025-05-01')).counts).toEqual([{ projectId: 'one', events: 1, queries: 0 }]);
    expect((await readCounts(redis, '2025-05-02')).counts).toEqual([
      { projectId: 'one', events: 6, queries: 0 },
      { projectId: 'two', events: 30, queries: 0 },
    ]);
  });

  test('rollUpCounts() finds nothing to copy where only canaries were stored, as in an idle service', async () => {
    const queue = createIngestQueue(redis);
    const at = new Date('2025-04-15T12:00:00Z');
    const canary = toCanaryEnvelope({ shard: 1, insertId: 'canary', sentAt: at.getTime() });
    await enqueueIngest(queue, redis, { items: [canary], weight: 1 });
    await queue.close();
    expect(await rollUpCounts(deps(), 2, at)).toBe(false);
  });

  test('rollUpCounts() gives equal counts when repeated', async () => {
    await count(0, 5);
    for (let run = 0; run < 2; run += 1) expect(await rollUpCounts(deps(), 2, now)).toBe(true);
    expect(await read(0)).toMatchObject({ events_ingested: 5 });
    await count(0, 2);
    await rollUpCounts(deps(), 2, now);
    expect(await read(0)).toMatchObject({ events_ingested: 7 });
  });

  test('rollUpCounts() adds what a Redis counts after it has lost its data', async () => {
    await redis.flushdb();
    await count(0, 1);
    for (let run = 0; run < 2; run += 1) await rollUpCounts(deps(), 2, now);
    expect(await read(0)).toMatchObject({ events_ingested: 8 });
    await count(0, 2);
    await rollUpCounts(deps(), 2, now);
    expect(await read(0)).toMatchObject({ events_ingested: 10 });
  });

  test('saveCounts() of a rollup that was overtaken changes nothing', async () => {
    const today = day(0, now.getTime());
    await saveCounts(postgres, today, { since: 1, counts: [{ projectId: other.id, events: 7, queries: 0 }] });
    expect(await read(0)).toMatchObject({ events_ingested: 10 });
    await rollUpCounts(deps(), 2, now);
    expect(await read(0)).toMatchObject({ events_ingested: 10 });
  });

  test('rollUpCounts() deletes finished days from Redis and keeps their totals', async () => {
    for (const age of [1, 2, 30]) await count(age, 4);
    await rollUpCounts(deps(), 35, now);
    for (const age of [1, 2, 30]) expect(await read(age)).toMatchObject({ events_ingested: 4 });
    expect(await redis.exists(`usage:${day(1, now.getTime())}`)).toBe(1);
    expect(await redis.exists(`usage:${day(2, now.getTime())}`, `usage:${day(30, now.getTime())}`)).toBe(0);
  });

  test('rollUpStored() counts stored events by day of receipt, with late events and erasures', async () => {
    await insert([
      [0, 'a'],
      [0, 'b'],
      [3, 'c'],
      [40, 'd'],
    ]);
    await rollUpStored(deps(), 35, now);
    expect(await read(0)).toMatchObject({ events_stored: 2 });
    expect(await read(3)).toMatchObject({ events_stored: 1 });
    expect(await read(40)).toMatchObject({ events_stored: 0 });

    await insert([[3, 'late']]);
    await store.client.command({
      query: `DELETE FROM events WHERE project_id = '${other.id}' AND insert_id IN ('a', 'b')`,
      clickhouse_settings: { lightweight_deletes_sync: '2' },
    });
    await rollUpStored(deps(), 35, now);
    expect(await read(0)).toMatchObject({ events_ingested: 10, events_stored: 0 });
    expect(await read(3)).toMatchObject({ events_stored: 2 });
  });
});

test('usage has the stored events whose counts Redis has lost, none of them twice', async () => {
  const now = new Date('2025-08-15T12:00:00Z');
  const id = randomUUID() as NewProject['id'];
  const { count, read, insert } = usageOf(id, now);
  const accept = async (...ids: string[]) => {
    await count(0, ids.length);
    await insert(ids.map((id) => [0, id]));
  };
  await accept('a', 'b', 'c');
  await rollUpCounts(deps(), 2, now);
  await accept('d', 'e');
  await redis.flushdb();
  await accept('f');
  // A rollup of stored events may overtake that of the counts that start at zero.
  await rollUpStored(deps(), 2, now);
  expect(await read(0)).toMatchObject({ events_ingested: 6, events_stored: 6 });
  await rollUpCounts(deps(), 2, now);
  expect(await read(0)).toMatchObject({ events_ingested: 6, events_stored: 6 });

  await store.client.command({
    query: `DELETE FROM events WHERE project_id = '${id}'`,
    clickhouse_settings: { lightweight_deletes_sync: '2' },
  });
  await rollUpStored(deps(), 2, now);
  expect(await read(0)).toMatchObject({ events_ingested: 6, events_stored: 0 });
});
