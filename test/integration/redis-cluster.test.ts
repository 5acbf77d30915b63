// A Redis Cluster, whose servers refuse commands with keys of two of them: web and the worker end
// and name it, and so does the doctor.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { packageRoot } from '../../src/platform/paths.js';
import { findFreePort } from '../../standalone/free-port.js';
import { embeddedRedis } from '../../standalone/redis-server.js';
import { eventually } from '../support/eventually.js';
import { createTestDatabases, type TestDatabases } from '../support/stack.js';

let databases: TestDatabases;
let cluster: ChildProcess;
let url: string;
const directory = mkdtempSync(join(tmpdir(), 'event-analytics-cluster-'));

beforeAll(async () => {
  databases = await createTestDatabases();
  const server = embeddedRedis({ directory, port: await findFreePort(), password: 'password' });
  await server.spec.beforeStart?.();
  const args = [...server.spec.args, '--cluster-enabled', 'yes'];
  cluster = spawn(server.spec.command, args, { stdio: 'ignore', cwd: server.spec.cwd, ...server.spec.user });
  url = server.url;
  await eventually(() => server.spec.checkReady());
});

afterAll(async () => {
  cluster?.kill('SIGKILL');
  rmSync(directory, { recursive: true });
  await databases?.close();
});

test.each([
  ['dist/processes/web.js', 'REDIS_URL is a Redis Cluster: take a Redis without cluster mode'],
  ['dist/processes/worker.js', 'REDIS_URL is a Redis Cluster: take a Redis without cluster mode'],
  ['dist/cli/doctor.js', '✗ Redis: '],
])('%s names a Redis Cluster and ends', async (script, message) => {
  const child = spawn(process.execPath, [script], {
    cwd: packageRoot,
    env: { PATH: process.env.PATH, ...databases.env, PORT: String(await findFreePort()), REDIS_URL: url },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (text) => {
      output += text;
    });
  }
  const status = await new Promise<number | null>((resolve) => child.once('close', resolve));
  expect(output).toContain(message);
  expect(output).toContain('Redis Cluster');
  expect(status).toBe(1);
});
