// A worker that is stopped for longer than its jobs' locks, and goes on after another worker has
// taken them over, stores nothing of them; nothing is lost and nothing counts twice.
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { NewProject } from '../../src/accounts/store.js';
import { insertEvents, partitionOf, partitionQueryId } from '../../src/ingest/insert/ingest-partition.js';
import { EventBlock } from '../../src/ingest/insert/row.js';
import { listActiveJobs } from '../../src/ingest/queue.js';
import { createRedis, type Redis } from '../../src/platform/redis/client.js';
import { LeaseLost } from '../../src/platform/redis/lease-lost.js';
import { eventually } from '../support/eventually.js';
import { type InsertRelay, startInsertRelay } from '../support/insert-relay.js';
import { createTestDatabases, type ProcessGroup, startProcesses, type TestDatabases } from '../support/stack.js';
import { createTestProject, type EventStore, openEventStore, track } from '../support/track.js';

const PARTITIONS = 3;
const SIZE = 300;
/** Lock, and two rounds of the search for expired ones; and a busy machine. */
const TAKEN_OVER_MS = 60_000;

let databases: TestDatabases;
let store: EventStore;
let redis: Redis;
let relay: InsertRelay;
let processes: ProcessGroup;
let relayed: ProcessGroup | undefined;
let isOver = true;

beforeAll(async () => {
  databases = await createTestDatabases({ INGEST_PARTITIONS: String(PARTITIONS) });
  store = openEventStore(databases);
  redis = createRedis(databases.config);
  relay = await startInsertRelay(databases.config.CLICKHOUSE_URL);
  processes = await startProcesses(databases.env, ['web']);
});

afterAll(async () => {
  isOver = true;
  relay?.release();
  for (const group of [processes, relayed]) {
    for (const name of ['waiting', 'worker', 'steady', 'hiccups']) signal(group, name, 'SIGCONT');
    await group?.stop();
  }
  await relay?.close();
  redis?.disconnect();
  await store?.client.close();
  await databases?.close();
});

function signal(group: ProcessGroup | undefined, name: string, of: 'SIGSTOP' | 'SIGCONT'): void {
  let pid: number | undefined;
  try {
    pid = group?.get(name).pid;
  } catch {
    // It was never started.
  }
  if (pid !== undefined && group?.get(name).isRunning === true) process.kill(pid, of);
}

async function projectIn(partition: number): Promise<NewProject> {
  for (;;) {
    const project = await createTestProject(databases);
    if (partitionOf(project.id, PARTITIONS) === partition) return project;
  }
}

const batch = (name: string, fields: object) => ({
  events: Array.from({ length: SIZE }, (_, key) => ({ event_type: name, insert_id: `${name}-${key}`, ...fields })),
});

async function send(project: NewProject, name: string, fields = {}): Promise<void> {
  expect((await track(processes.url, project.publicKey, batch(name, fields))).body).toEqual({ accepted: SIZE });
}

/** Holds the lock of the partition until it is called. */
async function occupy(partition: number): Promise<() => Promise<void>> {
  const query_id = partitionQueryId(partition, databases.config.CLICKHOUSE_DATABASE);
  const running = store.client
    .query({ query: 'SELECT sleepEachRow(1) FROM numbers(300) SETTINGS max_block_size = 1', query_id })
    .then((result) => result.text())
    .catch(() => {});
  const query = 'SELECT toUInt32(count()) AS n FROM system.processes WHERE query_id = {query_id:String}';
  await eventually(async () => {
    const found = await store.client.query({ query, query_params: { query_id }, format: 'JSONEachRow' });
    expect(await found.json()).toEqual([{ n: 1 }]);
  });
  return async () => {
    await store.client.command({
      query: 'KILL QUERY WHERE query_id = {query_id:String} SYNC',
      query_params: { query_id },
    });
    await running;
  };
}

const hasJobs = (count: number) =>
  eventually(async () => expect(await listActiveJobs(redis, [1])).toHaveLength(count), TAKEN_OVER_MS);

test('a worker that was stopped stores nothing of jobs that it has lost', async () => {
  const [waiting, cut, busy] = [await projectIn(0), await projectIn(1), await projectIn(2)];

  // Stopped before the request, while it waits for its turn.
  const free = await occupy(0);
  await processes.start('worker', 'waiting');
  await send(waiting, 'before');
  await hasJobs(1);
  await delay(500);
  signal(processes, 'waiting', 'SIGSTOP');

  // Stopped in the middle of the request: the engine has begun, and lacks the end of the rows.
  relayed = await startProcesses({ ...databases.env, CLICKHOUSE_URL: relay.url }, ['worker']);
  const begun = relay.holdNext();
  await send(cut, 'middle', { event_properties: { long: 'x'.repeat(2000) } });
  await begun;
  await hasJobs(2);
  signal(relayed, 'worker', 'SIGSTOP');

  // Traffic meanwhile, of which one worker is stopped again and again at any point.
  await free();
  await Promise.all([processes.start('worker', 'steady'), processes.start('worker', 'hiccups')]);
  let sent = 0;
  isOver = false;
  const traffic = (async () => {
    for (; !isOver; sent += 1) {
      await Promise.all([send(busy, `busy-${sent}`), send(busy, `busy-${sent}`)]);
      await delay(50);
    }
  })();
  traffic.catch(() => {});
  const hiccups = (async () => {
    while (!isOver) {
      await delay(200 * Math.random());
      signal(processes, 'hiccups', 'SIGSTOP');
      await delay(600 * Math.random());
      signal(processes, 'hiccups', 'SIGCONT');
    }
  })();

  // The other workers take the first job over. Then its rows are deleted, as an erasure does.
  await eventually(async () => expect(await store.count(waiting.id)).toBe(SIZE), TAKEN_OVER_MS);
  await store.client.command({
    query: 'DELETE FROM events WHERE project_id = {id:UUID}',
    query_params: { id: waiting.id },
    clickhouse_settings: { lightweight_deletes_sync: '2' },
  });
  // On a slow machine the engine has ended the request that lacks its rows, and another worker has
  // stored them all.
  expect([0, SIZE]).toContain(await store.count(cut.id));
  signal(processes, 'waiting', 'SIGCONT');
  // It has ended the job in some way.
  const said = () => processes.get('waiting').output.join('\n');
  await eventually(
    () => expect(said()).toMatch(/Missing (key|lock) for job|a job is left to other workers/),
    TAKEN_OVER_MS,
  );
  relay.release();
  signal(relayed, 'worker', 'SIGCONT');
  isOver = true;
  await Promise.all([traffic, hiccups]);

  await hasJobs(0);
  await eventually(async () => expect(await redis.keys('ingest:claim:*')).toEqual([]), TAKEN_OVER_MS);
  expect(await store.count(waiting.id)).toBe(0);
  expect(await store.count(cut.id)).toBe(SIZE);
  expect(await store.count(busy.id)).toBe(sent * SIZE);
}, 360_000);

test.each([1, 20_000])('an insert of %i rows stores nothing when its sender loses its lease', async (rows) => {
  const project = await createTestProject(databases);
  const block = new EventBlock();
  for (let key = 0; key < rows; key += 1) {
    const text = { userId: '', deviceId: 'd', sessionId: '', library: '', ip: '', userAgent: '' };
    const event = { projectId: project.id, eventType: 'e', time: Date.UTC(2026, 1), insertId: `id-${key}`, ...text };
    const rest = { origin: 'unknown', geography: {}, receivedAt: 0, eventProperties: {}, userProperties: {} } as const;
    block.add({ ...event, ...rest }, true);
  }
  const insert = { partition: 0, block: block.encode(), database: databases.config.CLICKHOUSE_DATABASE };
  for (const lostAt of [1, 2]) {
    let asked = 0;
    const requireHeld = () => {
      asked += 1;
      if (asked === lostAt) throw new LeaseLost();
    };
    await expect(insertEvents(store.client, { ...insert, requireHeld })).rejects.toThrow(LeaseLost);
    // It waits until the engine has ended the other.
    await insertEvents(store.client, { ...insert, block: new EventBlock().encode() }).catch(() => {});
    expect(await store.count(project.id)).toBe(0);
  }
  await insertEvents(store.client, { ...insert, requireHeld: () => {} });
  expect(await store.count(project.id)).toBe(rows);
});
