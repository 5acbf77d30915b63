// The purge of Redis files with a server that is busy with a snapshot.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { rewriteRedis } from '../../src/privacy/rewrite-files.js';
import { findFreePort } from '../../standalone/free-port.js';
import { eventually } from '../support/eventually.js';

let directory: string;
let server: ChildProcess;
let redis: Redis;

// A snapshot of a thousand keys takes a second.
const SLOW_SNAPSHOTS = ['--rdb-key-save-delay', '1000'];

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'event-analytics-rewrite-'));
  const port = String(await findFreePort());
  const files = ['--dir', directory, '--appendonly', 'yes', '--save', '', ...SLOW_SNAPSHOTS];
  server = spawn('redis-server', ['--port', port, '--bind', '127.0.0.1', ...files], { stdio: 'ignore' });
  redis = new Redis(`redis://127.0.0.1:${port}`, { retryStrategy: () => 50, maxRetriesPerRequest: null });
  await redis.ping();
});

afterAll(async () => {
  redis?.disconnect();
  if (server?.exitCode === null) {
    server.kill('SIGKILL');
    await once(server, 'close');
  }
  rmSync(directory, { recursive: true, force: true });
});

async function isInAppendOnlyFile(text: string): Promise<boolean> {
  const names = (await readdir(directory, { recursive: true })).filter((name) => name.includes('.aof.'));
  const files = await Promise.all(names.map((name) => readFile(join(directory, name))));
  return files.some((bytes) => bytes.includes(text));
}

test('rewriteRedis() resolves after the append-only file is rewritten, also while a snapshot is written', async () => {
  await redis.mset(new Map(Array.from({ length: 1000 }, (_, index) => [`key ${index}`, 'kept'])));
  await redis.set('person', 'an erased person');
  await redis.del('person');
  await eventually(async () => expect(await isInAppendOnlyFile('an erased person')).toBe(true));
  await redis.bgsave();
  expect(await redis.info('persistence')).toMatch(/^rdb_bgsave_in_progress:1\r$/m);

  await rewriteRedis(redis, new AbortController().signal);
  expect(await redis.info('persistence')).toMatch(/^aof_rewrite_in_progress:0\r\naof_rewrite_scheduled:0\r$/m);
  // Redis deletes the old file in a thread.
  await eventually(async () => expect(await isInAppendOnlyFile('an erased person')).toBe(false));
});
