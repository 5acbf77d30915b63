// Sequence numbers: they increase even when Redis loses data, and the low watermark is below
// everything still pending.
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  findPending,
  findPendingSince,
  lowWatermark,
  releaseSequence,
  takeSequence,
} from '../../src/identity/sequence.js';
import { createRedis, type Redis } from '../../src/platform/redis/client.js';
import { createTestDatabases, type TestDatabases } from '../support/stack.js';

let databases: TestDatabases;
let redis: Redis;

beforeAll(async () => {
  databases = await createTestDatabases();
  redis = createRedis(databases.config);
});

afterAll(async () => {
  redis?.disconnect();
  await databases?.close();
});

test('takeSequence() returns increasing blocks from the time in microseconds, also after a loss in Redis', async () => {
  const before = Date.now() * 1000;
  const first = await takeSequence(redis, { member: 'block', count: 1_000_000_000 });
  expect(first).toBeGreaterThanOrEqual(before - 1_000_000);
  expect(await takeSequence(redis, { member: 'next', count: 1 })).toBe(first + 1_000_000_000);
  await releaseSequence(redis, 'block', 'next');

  await redis.del('identity:sequence');
  const afterLoss = await takeSequence(redis, { member: 'lost', count: 1 });
  expect(afterLoss).toBeGreaterThan(first);
  await releaseSequence(redis, 'lost');
});

test('lowWatermark() is the smallest pending number, or the next number if none is pending', async () => {
  const first = await takeSequence(redis, { member: 'a', count: 3 });
  const second = await takeSequence(redis, { member: 'erasure:b', count: 1 });
  expect(await takeSequence(redis, { member: 'a', count: 1 })).toBeGreaterThan(second);
  expect(await lowWatermark(redis)).toBe(first);
  expect(await lowWatermark(redis, { except: ['a'] })).toBe(second);
  expect(await findPending(redis, ['a', 'c', 'erasure:b'])).toEqual(new Set(['a', 'erasure:b']));
  expect(await findPendingSince(redis, second / 1000 + 1)).toEqual(['a', 'erasure:b']);
  expect(await findPendingSince(redis, first / 1000 - 1)).toEqual([]);

  const next = await lowWatermark(redis, { except: ['a', 'erasure:b'] });
  expect(next).toBeGreaterThan(second);
  await releaseSequence(redis, 'a', 'erasure:b');
  expect(await lowWatermark(redis)).toBeGreaterThanOrEqual(next);
  expect(await takeSequence(redis, { member: 'd', count: 1 })).toBeGreaterThanOrEqual(next);
});
