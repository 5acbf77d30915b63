// InstanceLock of a data directory: second instances, crashes and orphaned children.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { InstanceLock, tryReadLock } from '../../../standalone/instance-lock.js';
import { StartProblem } from '../../../standalone/problem.js';
import { findProcess, isRunning } from '../../../standalone/process-identity.js';

let directory: string;
const children: ChildProcess[] = [];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'instance-lock-'));
});

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  rmSync(directory, { recursive: true, force: true });
});

function startSleeper(): number {
  const child = spawn('sleep', ['600']);
  children.push(child);
  return child.pid ?? 0;
}

/** Makes the lock that of a killed process, whose pid another process has now. */
function makeStale(): void {
  const path = join(directory, 'instance.lock');
  const lock = JSON.parse(readFileSync(path, 'utf8')) as { holder: { startedAt: string } };
  lock.holder.startedAt = 'long ago';
  writeFileSync(path, JSON.stringify(lock));
}

test('take() refuses a second instance until the first has released the lock', async () => {
  const first = await InstanceLock.take(directory);
  await expect(InstanceLock.take(directory)).rejects.toThrow(StartProblem);
  await expect(InstanceLock.take(directory)).rejects.toThrow(`in use by another instance (process ${process.pid}).`);
  first.release();
  (await InstanceLock.take(directory)).release();
});

test('take() ends the orphaned children of a dead instance', async () => {
  const dead = await InstanceLock.take(directory);
  const pid = startSleeper();
  dead.addChild({ name: 'sleeper', orphanSignal: 'SIGTERM' }, pid);
  makeStale();
  await InstanceLock.take(directory);
  expect(findProcess(pid)).toBeUndefined();
});

test('take() does not end another process with the pid of a former child', async () => {
  const dead = await InstanceLock.take(directory);
  const pid = startSleeper();
  dead.addChild({ name: 'sleeper', orphanSignal: 'SIGTERM' }, pid);
  const path = join(directory, 'instance.lock');
  writeFileSync(path, readFileSync(path, 'utf8').replaceAll(findProcess(pid)?.startedAt ?? '', 'before'));
  makeStale();
  await InstanceLock.take(directory);
  expect(findProcess(pid)).toBeDefined();
});

test('a child that has exited is removed from the lock', async () => {
  const lock = await InstanceLock.take(directory);
  const pid = startSleeper();
  lock.addChild({ name: 'sleeper', orphanSignal: 'SIGTERM' }, pid);
  expect(tryReadLock(directory)?.children.map(isRunning)).toEqual([true]);
  lock.removeChild(pid);
  expect(tryReadLock(directory)?.children).toEqual([]);
});

test('an unreadable lock counts as stale', async () => {
  writeFileSync(join(directory, 'instance.lock'), '{"holder":');
  (await InstanceLock.take(directory)).release();
});

test('a failed write of the lock, as on a full disk, is repeated', async () => {
  const lock = await InstanceLock.take(directory);
  const pid = startSleeper();
  mkdirSync(join(directory, 'instance.lock.new'));
  lock.addChild({ name: 'sleeper', orphanSignal: 'SIGTERM' }, pid);
  rmSync(join(directory, 'instance.lock.new'), { recursive: true });
  await vi.waitFor(() => expect(tryReadLock(directory)?.children.map((child) => child.pid)).toEqual([pid]), 10_000);
  lock.release();
});
