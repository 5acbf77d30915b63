// The age of the oldest waiting job, in the orders in which jobs wait: first in, first out, and the
// fair order, whose head may be younger than jobs behind it.
import type { Queue } from 'bullmq';
import { Registry } from 'prom-client';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { createRedis, type Redis } from '../../src/platform/redis/client.js';
import { openQueue } from '../../src/platform/redis/open-queue.js';
import { createQueueMetrics } from '../../src/platform/redis/queue-metrics.js';
import { createTestDatabases, type TestDatabases } from '../support/stack.js';

const NAME = 'oldest-waiting';
const HOUR_MS = 3_600_000;

let databases: TestDatabases;
let redis: Redis;
let queue: Queue;
let metrics: ReturnType<typeof createQueueMetrics>;
const registry = new Registry();

beforeAll(async () => {
  databases = await createTestDatabases();
  redis = createRedis(databases.config);
  queue = openQueue(NAME, redis);
  metrics = createQueueMetrics(registry, redis, () => [NAME]);
});

afterEach(() => queue.drain());

afterAll(async () => {
  await metrics?.close();
  await queue?.close();
  redis?.disconnect();
  await databases?.close();
});

const addAgo = (ms: number, priority?: number) =>
  queue.add('job', {}, { timestamp: Date.now() - ms, ...(priority !== undefined && { priority }) });

async function oldestHours(): Promise<number> {
  const line = (await registry.metrics()).split('\n').find((of) => of.startsWith('queue_oldest_waiting_seconds{'));
  return Math.floor(Number(line?.split(' ').at(-1)) / 3600);
}

test('is 0 when no job waits', async () => {
  expect(await oldestHours()).toBe(0);
});

test('is that of the first in', async () => {
  await addAgo(2 * HOUR_MS);
  await addAgo(0);
  expect(await oldestHours()).toBe(2);
});

test('is that of a job behind younger ones in fair order', async () => {
  // Of an owner with a large backlog, and later of others: the largest tag, and the least.
  await addAgo(3 * HOUR_MS, 2 ** 21 - 1);
  await addAgo(2 * HOUR_MS, 2 ** 21 - 1);
  await addAgo(2 * HOUR_MS, 40);
  await addAgo(HOUR_MS, 1);
  await addAgo(0, 1);
  expect(await oldestHours()).toBe(3);
});

test('is the largest of both orders', async () => {
  await addAgo(HOUR_MS);
  await addAgo(4 * HOUR_MS, 7);
  expect(await oldestHours()).toBe(4);
});
