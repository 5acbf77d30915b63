// The fail-fast Redis client through lost and silent connections.
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createLogger } from '../../src/platform/log.js';
import { createFailFastRedis, type Redis } from '../../src/platform/redis/client.js';
import { eventually } from '../support/eventually.js';
import { createTestDatabases, type TestDatabases } from '../support/stack.js';
import { type StoreRelay, startStoreRelay } from '../support/store-relay.js';

const TIMEOUT_MS = 1000;

let databases: TestDatabases;
let relay: StoreRelay;
let redis: Redis;
let closed = 0;

beforeEach(async () => {
  databases = await createTestDatabases();
  relay = await startStoreRelay(String(databases.env.REDIS_URL));
  redis = createFailFastRedis({ REDIS_URL: relay.url }, createLogger({ process: 'test', level: 'silent' }), TIMEOUT_MS);
  closed = 0;
  redis.on('close', () => {
    closed += 1;
  });
  await eventually(async () => expect(await redis.ping()).toBe('PONG'));
});

afterEach(async () => {
  redis.disconnect();
  await relay.close();
  await databases.close();
});

test('timeouts of a lost connection do not close the new one', async () => {
  relay.silence();
  const open = redis.ping().catch((error: unknown) => error);
  await relay.cut();
  expect(await open).toBeInstanceOf(Error);
  await relay.restore();
  await eventually(async () => expect(await redis.ping()).toBe('PONG'));
  closed = 0;
  await delay(2 * TIMEOUT_MS);
  expect([closed, redis.status]).toEqual([0, 'ready']);
});

test('a silent connection is closed, which releases its commands', async () => {
  relay.silence();
  await expect(redis.ping()).rejects.toThrow('Command timed out');
  await eventually(() => expect(closed).toBeGreaterThan(0));
});
