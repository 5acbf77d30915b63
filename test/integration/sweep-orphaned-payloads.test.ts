// Sweep of orphaned payloads: those that a crash left without a job are deleted; those of waiting
// jobs, and recent ones, are kept.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createIngestQueue, enqueueIngest, type IngestQueue } from '../../src/ingest/queue.js';
import { newUuidV7 } from '../../src/platform/ids.js';
import { createRedis, type Redis } from '../../src/platform/redis/client.js';
import { sweepOrphanedPayloads } from '../../workers/sweep-orphaned-payloads.js';
import { createTestDatabases, type TestDatabases } from '../support/stack.js';

const HOUR_MS = 3_600_000;

let databases: TestDatabases;
let redis: Redis;
let queue: IngestQueue;

beforeAll(async () => {
  databases = await createTestDatabases();
  redis = createRedis(databases.config);
  queue = createIngestQueue(redis);
});

afterAll(async () => {
  await queue?.close();
  redis?.disconnect();
  await databases?.close();
});

test('sweepOrphanedPayloads() deletes only old payloads that two sweeps find without a job', async () => {
  const now = Date.now();
  const orphan = `ingest:claim:${newUuidV7(now - 2 * HOUR_MS)}`;
  const young = `ingest:claim:${newUuidV7(now - HOUR_MS / 2)}`;
  await redis.mset(orphan, 'x', young, 'x');
  await enqueueIngest(queue, redis, { items: [], weight: 0 });
  const waiting = (await queue.getJobs(['waiting'])).map((job) => job.data.claim);
  expect(waiting).toHaveLength(1);

  const found = new Set<string>();
  // Its job may be added yet: the clock of its sender may be behind.
  expect(await sweepOrphanedPayloads(redis, now, found)).toBe(0);
  expect(await redis.exists(orphan)).toBe(1);
  expect(await sweepOrphanedPayloads(redis, now, found)).toBe(1);
  expect(await redis.exists(orphan)).toBe(0);
  // Two hours later the young one is old as well, and the payload of the waiting job is still kept.
  expect(await sweepOrphanedPayloads(redis, now + 2 * HOUR_MS, found)).toBe(0);
  expect(await sweepOrphanedPayloads(redis, now + 2 * HOUR_MS, found)).toBe(1);
  expect(await redis.keys('ingest:claim:*')).toEqual(waiting);
});
