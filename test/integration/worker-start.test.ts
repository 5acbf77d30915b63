// A worker that starts before its stores can be used: it waits and says why, as web and query do,
// so that a runner of Procfiles, which ends all processes with one, goes on.
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { packageRoot } from '../../src/platform/paths.js';
import { createRedis } from '../../src/platform/redis/client.js';
import { RedisServers, toAdminUrl } from '../support/redis-servers.js';
import { createTestDatabases, type Environment, type TestDatabases } from '../support/stack.js';
import { startStoreRelay } from '../support/store-relay.js';

let databases: TestDatabases;
const servers = new RedisServers();
let worker: ChildProcess | undefined;

beforeAll(async () => {
  databases = await createTestDatabases();
});

afterEach(() => void worker?.kill('SIGKILL'));

afterAll(async () => {
  servers.stop();
  await databases?.close();
});

/** Returns a function that reads the log of the worker up to a message. */
function startWorker(env: Environment): (message: string) => Promise<void> {
  worker = spawn(process.execPath, ['dist/processes/worker.js'], {
    cwd: packageRoot,
    env: { PATH: process.env.PATH, ...databases.env, LOG_LEVEL: 'info', ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  if (worker.stdout === null) throw new Error('the worker has no output');
  const lines = createInterface({ input: worker.stdout })[Symbol.asyncIterator]();
  return async (message) => {
    for (;;) {
      const { value, done } = await lines.next();
      if (done === true) throw new Error(`the worker ended before it said: ${message}`);
      if (String(value).includes(message)) return;
    }
  };
}

test('waits for PostgreSQL, and begins when it can be used', async () => {
  const relay = await startStoreRelay(databases.config.DATABASE_URL);
  try {
    await relay.cut();
    const readTo = startWorker({ DATABASE_URL: relay.url });
    await readTo('PostgreSQL cannot be used; the jobs begin when it can');
    await relay.restore();
    await readTo('"msg":"ready"');
    expect(worker?.exitCode).toBe(null);
  } finally {
    await relay.close();
  }
});

test('waits for a Redis that refuses writes, and begins when it takes them', async () => {
  const url = await servers.start('--maxmemory', '1');
  const readTo = startWorker({ REDIS_URL: url });
  await readTo('Redis refuses writes; the jobs begin when it takes them');
  const admin = createRedis({ REDIS_URL: toAdminUrl(url) });
  await admin.config('SET', 'maxmemory', '0');
  admin.disconnect();
  await readTo('"msg":"ready"');
  expect(worker?.exitCode).toBe(null);
});
