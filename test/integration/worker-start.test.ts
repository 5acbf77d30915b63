// A worker that starts before PostgreSQL: it waits and says why, as web and query do, so that a
// runner of Procfiles, which ends all processes with one, goes on.
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { packageRoot } from '../../src/platform/paths.js';
import { createTestDatabases, type TestDatabases } from '../support/stack.js';
import { type StoreRelay, startStoreRelay } from '../support/store-relay.js';

let databases: TestDatabases;
let relay: StoreRelay;
let worker: ChildProcess;
let lines: AsyncIterator<string>;

beforeAll(async () => {
  databases = await createTestDatabases();
  relay = await startStoreRelay(databases.config.DATABASE_URL);
  await relay.cut();
  worker = spawn(process.execPath, ['dist/processes/worker.js'], {
    cwd: packageRoot,
    env: { PATH: process.env.PATH, ...databases.env, DATABASE_URL: relay.url, LOG_LEVEL: 'info' },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  if (worker.stdout === null) throw new Error('the worker has no output');
  lines = createInterface({ input: worker.stdout })[Symbol.asyncIterator]();
});

afterAll(async () => {
  worker?.kill('SIGKILL');
  await relay?.close();
  await databases?.close();
});

async function readTo(message: string): Promise<void> {
  for (;;) {
    const { value, done } = await lines.next();
    if (done === true) throw new Error(`the worker ended before it said: ${message}`);
    if (String(value).includes(message)) return;
  }
}

test('waits for PostgreSQL, and begins when it can be used', async () => {
  await readTo('PostgreSQL cannot be used; the jobs begin when it can');
  await relay.restore();
  await readTo('"msg":"ready"');
  expect(worker.exitCode).toBe(null);
});
