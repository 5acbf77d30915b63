// Payloads of ingest jobs: the backlog of a project always equals the bytes of its stored payloads.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Envelope } from '../../src/ingest/envelope.js';
import { deletePayload, projectOfJob, readBacklogs, replacePayload, sharesOf } from '../../src/ingest/payloads.js';
import {
  BULK_QUEUE,
  createIngestQueue,
  enqueueIngest,
  ingestQueuesOf,
  isIngestQueue,
  listActiveJobs,
  measureBacklog,
} from '../../src/ingest/queue.js';
import { CountedWaits } from '../../src/ingest/wait-until-counted.js';
import { newUuidV7 } from '../../src/platform/ids.js';
import { createRedis, type Redis } from '../../src/platform/redis/client.js';
import { openQueueToRead } from '../../src/platform/redis/open-queue.js';
import { sweepOrphanedPayloads } from '../../workers/sweep-orphaned-payloads.js';
import { createTestDatabases, type TestDatabases } from '../support/stack.js';

let databases: TestDatabases;
let redis: Redis;
const [one, other] = [newUuidV7(), newUuidV7()];

beforeAll(async () => {
  databases = await createTestDatabases();
  redis = createRedis(databases.config);
});

afterAll(async () => {
  redis?.disconnect();
  await databases?.close();
});

const envelopeOf = (project: string, bytes: number, events = 1): Envelope => ({
  header: { v: 1, p: project, t: Date.now(), ip: '', ua: '', geo: {}, o: 'client', n: events },
  body: Buffer.alloc(bytes, 32),
});

const claims = async (): Promise<string[]> => (await redis.keys('ingest:claim:*')).sort();

test('the event stream of a queue stays short, also when npm run jobs reads the queue', async () => {
  const queue = createIngestQueue(redis);
  const read = openQueueToRead(queue.name, redis);
  await Promise.all([queue, read].map((each) => each.waitUntilReady()));
  for (let job = 0; job < 1000; job += 1) await queue.add('events', {} as never, { removeOnComplete: true });
  expect(await redis.hget(queue.toKey('meta'), 'opts.maxLenEvents')).toBe('100');
  // Redis trims whole nodes of a stream.
  expect(await redis.xlen(queue.toKey('events'))).toBeLessThan(300);
  await queue.obliterate({ force: true });
  await Promise.all([queue.close(), read.close()]);
});

test('the backlog is correct after adding, replacing, deleting and orphaning payloads', async () => {
  const [prompt, bulk] = [createIngestQueue(redis), createIngestQueue(redis, BULK_QUEUE)];
  // A small event counts for half a kilobyte.
  const mixed = [envelopeOf(one, 1000), envelopeOf(other, 10, 4), envelopeOf(one, 3000)];
  await enqueueIngest(prompt, redis, { items: mixed, weight: 6 });
  expect(await readBacklogs(redis)).toEqual(
    new Map([
      [one, { jobs: 0, bytes: 4000 }],
      [other, { jobs: 0, bytes: 2048 }],
    ]),
  );
  const [claim = ''] = await claims();
  await enqueueIngest(bulk, redis, { items: [envelopeOf(other, 5000)], weight: 1, key: other });
  expect((await readBacklogs(redis)).get(other)).toEqual({ jobs: 1, bytes: 7048 });

  await replacePayload(redis, claim, { from: mixed, to: mixed.slice(0, 1) });
  expect(await readBacklogs(redis)).toEqual(
    new Map([
      [one, { jobs: 0, bytes: 1000 }],
      [other, { jobs: 1, bytes: 5000 }],
    ]),
  );
  const left = sharesOf(mixed.slice(0, 1));
  expect(await deletePayload(redis, claim, left)).toBe(true);
  // The second call changes nothing.
  expect(await deletePayload(redis, claim, left)).toBe(false);
  await replacePayload(redis, claim, { from: mixed, to: [] });
  expect(await readBacklogs(redis)).toEqual(new Map([[other, { jobs: 1, bytes: 5000 }]]));

  // A payload with a job stays, and is swept after its job is gone.
  const [later, found] = [Date.now() + 2 * 3_600_000, new Set<string>()];
  expect(await sweepOrphanedPayloads(redis, later, found)).toBe(0);
  expect(found.size).toBe(0);
  await bulk.obliterate({ force: true });
  expect(await sweepOrphanedPayloads(redis, later, found)).toBe(0);
  expect(await sweepOrphanedPayloads(redis, later, found)).toBe(1);
  expect(await readBacklogs(redis)).toEqual(new Map());
  expect(await redis.keys('ingest:backlog:*')).toEqual([]);
  expect(await listActiveJobs(redis, [1])).toEqual([]);
  await Promise.all([prompt.close(), bulk.close()]);
});

test('a bulk job waits for the backlog of its project, not for that of its shard', async () => {
  const shard = 2;
  const bulk = createIngestQueue(redis, ingestQueuesOf(shard)[1]);
  const enqueueLarge = (project: string) => {
    // So many events weigh 8 MiB, a unit of the fair order.
    const { header, body } = envelopeOf(project, 10, 16 * 1024);
    const items = [{ header: { ...header, s: shard }, body }];
    return enqueueIngest(bulk, redis, { items, weight: header.n, key: project, shard });
  };
  for (const project of [one, one, one, other]) await enqueueLarge(project);
  const waiting = await bulk.getJobs('prioritized', 0, -1, true);
  expect(waiting.map(({ id = '' }) => projectOfJob(id))).toEqual([one, other, one, one]);
  await bulk.obliterate({ force: true });
  await bulk.close();
});

test('the queues of every shard are ingest queues, whose dead letters have payloads', () => {
  expect([1, 2, 12].flatMap(ingestQueuesOf).filter((name) => !isIngestQueue(name))).toEqual([]);
  expect(['identify', 'ingest-second'].filter(isIngestQueue)).toEqual([]);
});

test('jobs that wait for the end of a move are backlog, and first-seen times are none', async () => {
  const queue = createIngestQueue(redis, 'ingest-7');
  await queue.add('events', {} as never, { delay: 600_000 });
  const before = await measureBacklog([queue], redis);
  expect(before.jobs).toBe(1);
  await redis.set('ingest:times:total', 1_000_000);
  expect(before.bytes - (await measureBacklog([queue], redis)).bytes).toBeGreaterThan(50_000_000);
  await redis.del('ingest:times:total');
  await queue.obliterate({ force: true });
  await queue.close();
});

test('an answer waits until the job is gone, for a limited time and with a limited number of others', async () => {
  const queue = createIngestQueue(redis);
  const jobId = await enqueueIngest(queue, redis, { items: [envelopeOf(one, 10)], weight: 1 });
  const isConnected = () => false;
  const hurried = new CountedWaits(redis, { waitsMax: 1, waitMs: 0 });
  expect(await hurried.wait(jobId, isConnected)).toBe(false);

  const waits = new CountedWaits(redis, { waitsMax: 1, waitMs: 600_000 });
  const waiting = waits.wait(jobId, isConnected);
  expect(await waits.wait(jobId, isConnected)).toBe(false);
  await queue.remove(jobId);
  expect(await waiting).toBe(true);
  expect(await waits.wait(jobId, isConnected)).toBe(true);

  const kept = await enqueueIngest(queue, redis, { items: [envelopeOf(one, 10)], weight: 1 });
  expect(await waits.wait(kept, () => true)).toBe(false);
  await queue.close();
});
