// Exact counts: events that are sent twice, written twice or interrupted by a crash count once.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { NewProject } from '../../src/accounts/store.js';
import { insertEvents } from '../../src/ingest/insert/ingest-partition.js';
import type { AcceptedEvent } from '../../src/ingest/insert/replay-events.js';
import { EventBlock } from '../../src/ingest/insert/row.js';
import { readBacklogs } from '../../src/ingest/payloads.js';
import { isJobOfPayloadKnown } from '../../src/ingest/queue.js';
import { createClickHouse } from '../../src/platform/clickhouse/client.js';
import { createRedis } from '../../src/platform/redis/client.js';
import { eventually } from '../support/eventually.js';
import { createTestDatabases, type ProcessGroup, startProcesses, type TestDatabases } from '../support/stack.js';
import { createTestProject, type EventStore, openEventStore, track } from '../support/track.js';

let databases: TestDatabases;
let store: EventStore;

beforeAll(async () => {
  databases = await createTestDatabases();
  store = openEventStore(databases);
});

afterAll(async () => {
  await store?.client.close();
  await databases?.close();
});

const TIME = Date.UTC(2026, 10, 1);

function acceptedEvent(projectId: string, key: number, fields: Partial<AcceptedEvent> = {}): AcceptedEvent {
  return {
    projectId,
    eventType: `type ${key % 3}`,
    time: TIME + (key % 1000) * 3_600_000,
    insertId: `id-${key}`,
    userId: '',
    deviceId: 'd',
    sessionId: '',
    library: '',
    origin: 'unknown',
    ip: '',
    userAgent: '',
    geography: {},
    receivedAt: TIME,
    eventProperties: {},
    userProperties: {},
    ...fields,
  };
}

function blockOf(projectId: string, keys: readonly number[], fields: Partial<AcceptedEvent> = {}): Buffer {
  const block = new EventBlock();
  for (const key of keys) block.add(acceptedEvent(projectId, key, fields), true);
  return block.encode();
}

const range = (length: number, from = 0) => Array.from({ length }, (_, index) => from + index);

describe('insertEvents', () => {
  const insert = (block: Buffer, client = store.client) =>
    insertEvents(client, { partition: 0, block, database: databases.config.CLICKHOUSE_DATABASE });

  test('stores the duplicates of one block once', async () => {
    const project = randomUUID();
    await insert(blockOf(project, [...range(2000), ...range(2000), 5, 5]));
    expect(await store.count(project)).toBe(2000);
  });

  test('stores a block with every month that events may have, once', async () => {
    const project = randomUUID();
    const block = new EventBlock();
    const months = 12 * 27;
    for (const month of range(months)) {
      block.add(acceptedEvent(project, month, { time: Date.UTC(2000, month) }), true);
    }
    const bytes = block.encode();
    for (let sent = 0; sent < 2; sent += 1) await insert(bytes);
    expect(await store.count(project)).toBe(months);
  });

  test('keeps all columns of the event that was stored first', async () => {
    const project = randomUUID();
    await insert(blockOf(project, [1], { deviceId: 'first', eventProperties: { n: 1 } }));
    await insert(blockOf(project, [1, 1], { deviceId: 'second', eventProperties: { m: 2 } }));
    expect(await store.rows(project, 'device_id, ep_num')).toEqual([{ device_id: 'first', ep_num: { n: 1 } }]);
  });

  test('stores equal insert ids of another project, type or time as different events', async () => {
    const [one, other] = [randomUUID(), randomUUID()];
    await insert(blockOf(one, [1]));
    await insert(blockOf(other, [1]));
    await insert(blockOf(one, [1], { eventType: 'else' }));
    await insert(blockOf(one, [1], { time: TIME - 1 }));
    expect([await store.count(one), await store.count(other)]).toEqual([3, 1]);
  });

  test('stores each event once when two writers insert concurrently', async () => {
    const project = randomUUID();
    const second = createClickHouse(databases.config);
    const blocks = range(6).map((batch) => blockOf(project, range(3000, batch * 1500)));
    // Each writer sends all blocks, half of which overlap the ones before them, in opposite orders.
    await Promise.all([
      Promise.all(blocks.map((block) => insert(block))),
      Promise.all(blocks.toReversed().map((block) => insert(block, second))),
    ]);
    await second.close();
    expect(await store.count(project)).toBe(3000 + 5 * 1500);
  });

  test('stores each event once when an insert is cut off and repeated', async () => {
    const project = randomUUID();
    const block = blockOf(project, range(50_000));
    // Cut at moments spread over the whole insert: before the engine has the rows, during the
    // lookup, during the write.
    for (const cutAfterMs of [1, 5, 20, 40, 80, 120, 160]) {
      const cut = createClickHouse(databases.config, { requestTimeoutMs: cutAfterMs });
      await insert(block, cut).catch(() => {});
      await insert(block);
      await cut.close();
      expect(await store.count(project)).toBe(50_000);
    }
  });
});

describe('from POST /track to the stored rows', () => {
  let processes: ProcessGroup;
  let project: NewProject;

  beforeAll(async () => {
    project = await createTestProject(databases);
    processes = await startProcesses(databases.env, ['worker', 'web']);
  });

  afterAll(() => processes?.stop());

  const batch = (name: string, size: number) => ({
    events: range(size).map((key) => ({ event_type: name, insert_id: `${name}-${key}`, time: TIME + key * 60_000 })),
  });

  async function drained(): Promise<void> {
    const redis = createRedis(databases.config);
    try {
      // A worker that is killed right after a job has ended leaves its payload behind, for the
      // sweep to delete.
      const isWaiting = (payload: string) => isJobOfPayloadKnown(redis, payload);
      await eventually(async () => {
        const payloads = await redis.keys('ingest:claim:*');
        expect(await Promise.all(payloads.map(isWaiting))).not.toContain(true);
      }, 120_000);
    } finally {
      redis.disconnect();
    }
  }

  test('a batch sent three times counts once', async () => {
    const body = batch('thrice', 500);
    await Promise.all(range(3).map(() => track(processes.url, project.publicKey, body)));
    await drained();
    expect(await store.count(project.id, "event_type = 'thrice'")).toBe(500);
    // Above its share of the backlog the project would be refused for ever.
    const redis = createRedis(databases.config);
    await eventually(async () => expect(await readBacklogs(redis)).toEqual(new Map()));
    redis.disconnect();
  });

  test('every event is stored exactly once while one of two workers is killed repeatedly', async () => {
    await processes.start('worker', 'second');
    const bodies = range(30).map((number) => batch(`storm-${number}`, 400));
    const sending = (async () => {
      for (const body of bodies) {
        const answers = await Promise.all(range(2).map(() => track(processes.url, project.publicKey, body)));
        expect(answers.map(({ body: answer }) => answer.accepted)).toEqual([400, 400]);
      }
    })();
    for (let killed = 0; killed < 3; killed += 1) {
      await eventually(async () => expect(await store.count(project.id)).toBeGreaterThan(500 + killed * 800));
      await processes.get('second').kill('SIGKILL');
      await processes.start('worker', 'second');
    }
    await sending;
    await drained();
    expect(await store.count(project.id, "event_type LIKE 'storm-%'")).toBe(30 * 400);
    expect(await store.count(project.id, "event_type LIKE 'storm-%'")).toBe(
      Number(
        (await store.rows<{ n: string }>(project.id, "uniqExactIf(insert_id, event_type LIKE 'storm-%') AS n"))[0]?.n,
      ),
    );
  }, 240_000);
});
