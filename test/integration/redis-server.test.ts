// Durability of the Redis of `npm start`: acknowledged writes survive a kill and restart, whatever
// the state of its file.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterEach, expect, test } from 'vitest';
import { packageRoot } from '../../src/platform/paths.js';
import { isNewFileLine, setAppendMode } from '../../standalone/append-mode.js';
import { findFreePort } from '../../standalone/free-port.js';
import { type EmbeddedRedis, embeddedRedis } from '../../standalone/redis-server.js';
import { eventually } from '../support/eventually.js';

const directories: string[] = [];
let running: ChildProcess | undefined;

afterEach(async () => {
  await kill();
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true });
});

async function createServer(): Promise<EmbeddedRedis & { readonly directory: string }> {
  const directory = mkdtempSync(join(tmpdir(), 'event-analytics-redis-'));
  directories.push(directory);
  return { ...embeddedRedis({ directory, port: await findFreePort(), password: 'password' }), directory };
}

async function start({ spec, url }: EmbeddedRedis): Promise<Redis> {
  await spec.beforeStart?.();
  running = spawn(spec.command, spec.args, { stdio: ['ignore', 'pipe', 'ignore'], cwd: spec.cwd, ...spec.user });
  running.stdout?.resume();
  await eventually(() => spec.checkReady());
  return new Redis(url);
}

async function kill(): Promise<void> {
  const closed = running?.exitCode === null && running.signalCode === null && once(running, 'close');
  running?.kill('SIGKILL');
  await closed;
}

/** Redis waits up to two seconds with a write while a sync of the file runs. */
async function killWhenWritten(redis: Redis): Promise<void> {
  await eventually(async () => expect(await redis.info('persistence')).toMatch(/^aof_buffer_length:0\r$/m));
  redis.disconnect();
  await kill();
}

test('Redis keeps transactions and scripts after a kill', async () => {
  const server = await createServer();
  const before = await start(server);
  await before.multi().set('one', 1).hincrby('two', 'field', 2).exec();
  await before.eval("redis.call('SET', KEYS[1], 3) redis.call('INCR', KEYS[2])", 2, 'three', 'one');
  await before.set('last', 4);
  await killWhenWritten(before);

  const after = await start(server);
  expect(await after.mget('one', 'three', 'last')).toEqual(['2', '3', '4']);
  expect(await after.hget('two', 'field')).toBe('2');
  after.disconnect();
});

test.each([
  ['deleted', (file: string) => rmSync(file)],
  ['damaged', (file: string) => writeFileSync(file, 'no directive\n')],
])('Redis starts again after its configuration was %s', async (_name, change) => {
  const server = await createServer();
  const before = await start(server);
  await before.set('one', 1);
  await killWhenWritten(before);
  change(join(server.directory, 'redis.conf'));
  const after = await start(server);
  expect(await after.get('one')).toBe('1');
  after.disconnect();
});

// 2, 512 and 513: the limits of one line of comment.
test.each([2, 3, 512, 513, 514, 100_000])(
  'Redis keeps everything before and after %i zero bytes in its append-only file',
  async (bytes) => {
    const server = await createServer();
    const before = await start(server);
    await before.set('large', 'x'.repeat(3_000_000));
    await before.multi().set('one', 'with\0zeros').set('two', '*1\r\n').exec();
    await before.set('three', 3);
    await killWhenWritten(before);
    const file = join(server.directory, 'appendonlydir', 'appendonly.aof.1.incr.aof');
    const written = readFileSync(file);
    const boundary = written.indexOf('*1\r\n$5\r\nMULTI');
    const hole = Buffer.alloc(bytes);
    writeFileSync(file, Buffer.concat([written.subarray(0, boundary), hole, written.subarray(boundary), hole]));

    const repaired = await start(server);
    await repaired.set('four', 4);
    await killWhenWritten(repaired);
    const after = await start(server);
    expect(await after.mget('one', 'two', 'three', 'four')).toEqual(['with\0zeros', '*1\r\n', '3', '4']);
    expect(await after.strlen('large')).toBe(3_000_000);
    after.disconnect();
  },
);

test('npm run repair-redis repairs the append-only file of another Redis', async () => {
  const server = await createServer();
  const before = await start(server);
  await before.set('one', 1);
  await killWhenWritten(before);
  const file = join(server.directory, 'appendonlydir', 'appendonly.aof.1.incr.aof');
  appendFileSync(file, Buffer.alloc(700));
  appendFileSync(file, '*3\r\n$3\r\nSET\r\n$3\r\ntwo\r\n$1\r\n2\r\n');
  const run = (...args: string[]) => {
    const main = join(packageRoot, 'dist', 'cli', 'repair-redis.js');
    const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...args], { encoding: 'utf8' });
    return { status, said: stdout + stderr };
  };
  expect(run()).toEqual({ status: 2, said: expect.stringContaining('usage: npm run repair-redis -- DIRECTORY') });
  expect(run(server.directory)).toEqual({ status: 0, said: '700 bytes of zeros filled\n' });
  expect(run(server.directory)).toEqual({ status: 0, said: '0 bytes of zeros filled\n' });
  const { beforeStart: _, ...spec } = server.spec;
  const after = await start({ ...server, spec });
  expect(await after.mget('one', 'two')).toEqual(['1', '2']);
  after.disconnect();
});

test.runIf(process.platform === 'linux')('setAppendMode() opens the file of a rewrite for appending', async () => {
  const server = await createServer();
  const redis = await start(server);
  const pid = running?.pid ?? 0;
  expect(setAppendMode(pid)).toEqual([]);
  const lines: string[] = [];
  running?.stdout?.on('data', (text) => lines.push(String(text)));
  await redis.bgrewriteaof();
  await eventually(async () => expect(lines.some(isNewFileLine)).toBe(true));
  expect(setAppendMode(pid)).toEqual([expect.stringContaining('appendonly.aof.2.incr.aof')]);
  expect(setAppendMode(pid)).toEqual([]);
  await redis.set('one', 1);
  await killWhenWritten(redis);
  const after = await start(server);
  expect(await after.get('one')).toBe('1');
  after.disconnect();
});

// The negative length of the second one would send a naive reader backwards.
test.each(['damaged\r\n*1\r\n$4\r\nPING\r\n', '*1\r\n$-12\r\nPING\r\n', '*x\r\n'])(
  'Redis reports other damage of its append-only file: %j',
  async (damage) => {
    const server = await createServer();
    const before = await start(server);
    await before.set('one', 1);
    await killWhenWritten(before);
    const file = join(server.directory, 'appendonlydir', 'appendonly.aof.1.incr.aof');
    const damaged = Buffer.concat([readFileSync(file), Buffer.from(damage)]);
    writeFileSync(file, damaged);

    await server.spec.beforeStart?.();
    const { command, args, cwd, user } = server.spec;
    running = spawn(command, args, { stdio: 'ignore', cwd, ...user });
    // Redis 7 crashes on the length.
    expect(await once(running, 'close')).not.toEqual([0, null]);
    expect(readFileSync(file)).toEqual(damaged);
  },
);
