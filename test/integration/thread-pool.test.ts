// Thread pool: threads that exceed their time or memory, or end, and the tasks of others meanwhile.
// Runs compiled code.
import { afterEach, expect, test } from 'vitest';
import { syncTask } from '../../src/dashboards/sync-task.js';
import { PublicError } from '../../src/platform/errors.js';
import { ThreadPool, type ThreadPoolOptions } from '../../src/platform/threads/thread-pool.js';
import type { ThreadTask } from '../../src/platform/threads/thread-task.js';
import * as tasks from '../support/thread-tasks.mjs';

const { echo, echoMoved, exit, fail, grow, spin } = tasks as unknown as Record<
  'echo' | 'echoMoved' | 'exit' | 'fail' | 'grow' | 'spin',
  ThreadTask<unknown, unknown>
>;

let pool: ThreadPool;
const start = (options: Partial<ThreadPoolOptions> = {}): ThreadPool => {
  pool = new ThreadPool({ threadsMax: 2, ...options });
  return pool;
};
afterEach(() => pool.close());

const refusal = (kind: string, message: string) =>
  expect.objectContaining({ kind, message: expect.stringContaining(message) });

test('input and output of a task are copied', async () => {
  const input = { bytes: new Uint8Array([1, 2]), deep: [{ when: new Date(0) }] };
  expect(await start().run(echo, input, 'a')).toEqual(input);
});

test('buffers that a task names are transferred', async () => {
  const bytes = new Uint8Array([1, 2, 3]);
  expect(await start().run(echoMoved, bytes, 'a')).toEqual(new Uint8Array([1, 2, 3]));
  expect(bytes.byteLength).toBe(0);
});

test('an error of a task reaches its caller, a PublicError with its details', async () => {
  start();
  await expect(pool.run(fail, undefined, 'a')).rejects.toThrow(new TypeError('a bug'));
  const context = {
    key: 'a',
    projectId: 'p' as never,
    timezone: 'UTC',
    nowMs: 0,
    definitions: [],
    privateAddresses: [],
  };
  const refused = await pool
    .run(syncTask, { body: Buffer.from('{"source_yaml": "version: 2"}'), context }, 'a')
    .catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(PublicError);
  expect(refused).toMatchObject({ kind: 'bad_request', details: [{ line: 1 }, { line: 1 }, { line: 1 }] });
});

test('a task above its deadline is stopped and refused, and the next task gets a thread', async () => {
  start({ threadsMax: 1, deadlineMs: 200 });
  await expect(pool.run(spin, 60_000, 'a')).rejects.toEqual(
    refusal('bad_request', 'the task needs more than 200 ms; ask for less'),
  );
  expect(await pool.run(echo, 1, 'a')).toBe(1);
});

test('a task above its memory limit is stopped, and the process continues', async () => {
  start({ memoryMebibytes: 32 });
  await expect(pool.run(grow, undefined, 'a')).rejects.toEqual(
    refusal('bad_request', '32 MiB of memory; ask for less'),
  );
  expect(await pool.run(echo, 1, 'a')).toBe(1);
});

test('a thread that exits fails only its own task', async () => {
  start();
  await expect(pool.run(exit, undefined, 'a')).rejects.toThrow('ended in the middle of a task');
  expect(await pool.run(echo, 1, 'a')).toBe(1);
});

test('one owner never has all threads, so a task of another owner need not wait', async () => {
  start();
  await Promise.all([pool.run(echo, 0, 'a'), pool.run(echo, 0, 'b')]);
  const done: string[] = [];
  const hostile = Array.from({ length: 6 }, () => pool.run(spin, 200, 'a').then(() => done.push('a')));
  await pool.run(echo, 1, 'b').then(() => done.push('b'));
  expect(done).toEqual(['b']);
  await Promise.all(hostile);
});

test('owners take turns on a single thread', async () => {
  start({ threadsMax: 1 });
  const done: string[] = [];
  const run = (owner: string) => pool.run(spin, 20, owner).then(() => done.push(owner));
  await Promise.all([run('a'), run('a'), run('a'), run('b')]);
  // The first task of a started before b was waiting.
  expect(done).toEqual(['a', 'a', 'b', 'a']);
});

test('tasks above the limits of the queue are refused at once', async () => {
  start({ threadsMax: 1, waitingPerOwnerMax: 2, waitingMax: 3 });
  const running = [pool.run(spin, 100, 'a'), pool.run(spin, 1, 'a'), pool.run(spin, 1, 'a'), pool.run(spin, 1, 'b')];
  await expect(pool.run(spin, 1, 'a')).rejects.toEqual(refusal('rate_limited', 'of this project'));
  await expect(pool.run(spin, 1, 'c')).rejects.toEqual(refusal('rate_limited', 'too many large requests are waiting'));
  await Promise.all(running);
});

test('close() fails running and waiting tasks', async () => {
  start({ threadsMax: 1 });
  const ends = [pool.run(spin, 60_000, 'a'), pool.run(echo, 1, 'b')].map((end) => end.catch((error: unknown) => error));
  await pool.close();
  for (const end of await Promise.all(ends)) expect(end).toEqual(refusal('unavailable', 'restarted'));
  await expect(pool.run(echo, 1, 'a')).rejects.toEqual(refusal('unavailable', 'restarted'));
});
