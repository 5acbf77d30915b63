// A Redis with which the service cannot run: web and the worker end and name it. It is a cluster,
// whose servers refuse commands with keys of two of them, a replica, or that of another
// installation.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRedis } from '../../src/platform/redis/client.js';
import { requireUsableRedis } from '../../src/platform/redis/usable.js';
import { findFreePort } from '../../standalone/free-port.js';
import { RedisServers } from '../support/redis-servers.js';
import { type Ended, runScript } from '../support/run-script.js';
import { createTestDatabases, type TestDatabases } from '../support/stack.js';

const OWN = 'a'.repeat(64);
const OTHER = 'b'.repeat(64);

let databases: TestDatabases;
const servers = new RedisServers();

beforeAll(async () => {
  databases = await createTestDatabases();
});

afterAll(async () => {
  servers.stop();
  await databases?.close();
});

const ADVICE = 'take a primary without cluster mode';

test.each([
  ['dist/processes/web.js', `REDIS_URL is a Redis Cluster: ${ADVICE}`],
  ['dist/processes/worker.js', `REDIS_URL is a Redis Cluster: ${ADVICE}`],
  ['dist/cli/doctor.js', '✗ Redis: '],
])('%s names a Redis Cluster and ends', async (script, message) => {
  const { status, output } = await run(script, { REDIS_URL: await servers.start('--cluster-enabled', 'yes') });
  expect(output).toContain(message);
  expect(output).toContain('Redis Cluster');
  expect(status).toBe(1);
});

test.each([
  ['dist/processes/web.js', `REDIS_URL is a replica, which refuses writes: ${ADVICE}`],
  ['dist/processes/worker.js', `REDIS_URL is a replica, which refuses writes: ${ADVICE}`],
  ['dist/cli/doctor.js', 'a replica, which refuses writes'],
])('%s names a replica and ends', async (script, message) => {
  // Of a primary that does not answer.
  const { status, output } = await run(script, { REDIS_URL: await servers.start('--replicaof', '127.0.0.1 1') });
  expect(output).toContain(message);
  expect(status).toBe(1);
});

test.each([
  ['dist/processes/web.js', 'REDIS_URL is a Redis without the database 9999: take one that it has'],
  ['dist/processes/worker.js', 'REDIS_URL is a Redis without the database 9999: take one that it has'],
  ['dist/cli/doctor.js', 'a Redis without the database 9999'],
])('%s names a database that Redis does not have, and ends', async (script, message) => {
  const { status, output } = await run(script, {
    REDIS_URL: new URL('/9999', await servers.start()).href,
  });
  expect(output).toContain(message);
  expect(status).toBe(1);
});

const run = async (script: string, env: Record<string, string>): Promise<Ended> =>
  runScript([script], { ...databases.env, PORT: String(await findFreePort()), ...env });

test('the Redis of an installation refuses others, until its key is deleted', async () => {
  const redis = createRedis(databases.config);
  await redis.flushdb();
  await requireUsableRedis(redis, OWN);
  await requireUsableRedis(redis, OWN);
  await expect(requireUsableRedis(redis, OTHER)).rejects.toThrow('the Redis of another installation');
  for (const script of ['dist/processes/web.js', 'dist/processes/worker.js']) {
    const { status, output } = await run(script, { SECRET_KEY_BASE: OTHER });
    expect({ status, output }).toEqual({
      status: 1,
      output: expect.stringContaining(
        'set it back, or delete the key of the old one when that is lost: docs/operating.md, "Changing SECRET_KEY_BASE"',
      ),
    });
  }
  await redis.del('installation');
  await requireUsableRedis(redis, OTHER);
  redis.disconnect();
});

test('a full Redis is no reason to end', async () => {
  const redis = createRedis({ REDIS_URL: await servers.start('--maxmemory', '1') });
  const refusal = await requireUsableRedis(redis, OWN);
  expect(refusal?.message).toContain('OOM');
  redis.disconnect();
});
