// Claims of imports in Redis: a project has one import at a time, in all processes.
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { claimImport } from '../../src/imports/upload/claim.js';
import { type ProjectId, toProjectId } from '../../src/platform/ids.js';
import { createRedis, type Redis } from '../../src/platform/redis/client.js';
import { eventually } from '../support/eventually.js';
import { createTestDatabases, type TestDatabases } from '../support/stack.js';

const RUNNING = 'another import of this project is running';

let databases: TestDatabases;
let redis: Redis;
let projectId: ProjectId;
let key: string;

beforeAll(async () => {
  databases = await createTestDatabases();
  redis = createRedis(databases.config);
});

beforeEach(() => {
  projectId = toProjectId(randomUUID());
  key = `import:${projectId}`;
});

afterEach(() => void vi.useRealTimers());

afterAll(async () => {
  redis?.disconnect();
  await databases?.close();
});

test('a project has one import at a time, and other projects have their own', async () => {
  const end = await claimImport(redis, projectId);
  await expect(claimImport(redis, projectId)).rejects.toThrow(RUNNING);
  await (await claimImport(redis, toProjectId(randomUUID())))();
  await expect(claimImport(redis, projectId)).rejects.toThrow(RUNNING);
  await end();
  await (await claimImport(redis, projectId))();
});

test('a claim is renewed until its import ends, and ends by itself without its process', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const end = await claimImport(redis, projectId);
  expect(await redis.pttl(key)).toBeGreaterThan(0);
  await redis.pexpire(key, 9_000);
  vi.advanceTimersByTime(10_000);
  await eventually(async () => expect(await redis.pttl(key)).toBeGreaterThan(9_000));
  await end();
  expect(vi.getTimerCount()).toBe(0);
});

test('an import whose claim has ended neither renews nor ends the claim of another', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const end = await claimImport(redis, projectId);
  // Another process has claimed it after a pause of this one.
  await redis.set(key, 'another', 'PX', 9_000);
  vi.advanceTimersByTime(10_000);
  await end();
  expect(await redis.get(key)).toBe('another');
  expect(await redis.pttl(key)).toBeLessThanOrEqual(9_000);
});
