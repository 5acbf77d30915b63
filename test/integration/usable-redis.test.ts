// A Redis with which the service cannot run: web and the worker end and name it. It is a cluster,
// whose servers refuse commands with keys of two of them, or that of another installation.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRedis } from '../../src/platform/redis/client.js';
import { requireUsableRedis } from '../../src/platform/redis/usable.js';
import { findFreePort } from '../../standalone/free-port.js';
import { embeddedRedis } from '../../standalone/redis-server.js';
import { eventually } from '../support/eventually.js';
import { type Ended, runScript } from '../support/run-script.js';
import { createTestDatabases, type TestDatabases } from '../support/stack.js';

const OWN = 'a'.repeat(64);
const OTHER = 'b'.repeat(64);

let databases: TestDatabases;
const servers: { readonly child: ChildProcess; readonly directory: string }[] = [];

beforeAll(async () => {
  databases = await createTestDatabases();
});

afterAll(async () => {
  for (const { child, directory } of servers) {
    child.kill('SIGKILL');
    rmSync(directory, { recursive: true });
  }
  await databases?.close();
});

/** Resolves with its URL. */
async function startRedis(...settings: readonly string[]): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'event-analytics-redis-'));
  const { spec, url } = embeddedRedis({ directory, port: await findFreePort(), password: 'password' });
  await spec.beforeStart?.();
  const child = spawn(spec.command, [...spec.args, ...settings], { stdio: 'ignore', cwd: spec.cwd, ...spec.user });
  servers.push({ child, directory });
  await eventually(() => spec.checkReady());
  return url;
}

test.each([
  ['dist/processes/web.js', 'REDIS_URL is a Redis Cluster: take a Redis without cluster mode'],
  ['dist/processes/worker.js', 'REDIS_URL is a Redis Cluster: take a Redis without cluster mode'],
  ['dist/cli/doctor.js', '✗ Redis: '],
])('%s names a Redis Cluster and ends', async (script, message) => {
  const { status, output } = await run(script, { REDIS_URL: await startRedis('--cluster-enabled', 'yes') });
  expect(output).toContain(message);
  expect(output).toContain('Redis Cluster');
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
    expect({ status, output }).toEqual({ status: 1, output: expect.stringContaining('another installation') });
  }
  await redis.del('installation');
  await requireUsableRedis(redis, OTHER);
  redis.disconnect();
});

test('a full Redis is no reason to end: workers make room in it', async () => {
  const redis = createRedis({ REDIS_URL: await startRedis('--maxmemory', '1') });
  await expect(redis.set('key', 'value')).rejects.toThrow('OOM');
  await requireUsableRedis(redis, OWN);
  redis.disconnect();
});
