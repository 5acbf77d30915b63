// What the Redis of `npm start` was given is there after it was killed and started again, transactions and scripts included.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, expect, test } from 'vitest';
import { findFreePort } from '../../standalone/free-port.js';
import { type EmbeddedRedis, embeddedRedis } from '../../standalone/redis-server.js';
import { eventually } from '../support/eventually.js';

const directory = mkdtempSync(join(tmpdir(), 'event-analytics-redis-'));
let running: ChildProcess | undefined;

afterAll(() => {
  running?.kill('SIGKILL');
  rmSync(directory, { recursive: true, force: true });
});

async function start({ spec }: EmbeddedRedis): Promise<void> {
  running = spawn(spec.command, spec.args, { stdio: 'ignore' });
  await eventually(() => spec.checkReady());
}

async function kill(): Promise<void> {
  const closed = running && once(running, 'close');
  running?.kill('SIGKILL');
  await closed;
}

test('keeps transactions and scripts when it is killed', async () => {
  const server = embeddedRedis({ directory, port: await findFreePort(), password: 'password' });
  await start(server);
  const before = new Redis(server.url);
  await before.multi().set('one', 1).hincrby('two', 'field', 2).exec();
  await before.eval("redis.call('SET', KEYS[1], 3) redis.call('INCR', KEYS[2])", 2, 'three', 'one');
  await before.set('last', 4);
  before.disconnect();
  // A write is in the file's page cache within the event loop that answers it: only the machine's end could lose it.
  await kill();

  await start(server);
  const after = new Redis(server.url);
  expect(await after.mget('one', 'three', 'last')).toEqual(['2', '3', '4']);
  expect(await after.hget('two', 'field')).toBe('2');
  after.disconnect();
});
