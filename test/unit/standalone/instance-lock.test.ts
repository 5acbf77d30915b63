// InstanceLock of a data directory: second instances, crashes and orphaned children.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { isProcessRunning } from '../../../src/platform/process-running.js';
import { claimName } from '../../../standalone/instance-claim.js';
import { type ChildIdentity, endLeftovers, InstanceLock, tryReadLock } from '../../../standalone/instance-lock.js';
import { StartProblem } from '../../../standalone/problem.js';
import { findProcess, isRunning, ownIdentity } from '../../../standalone/process-identity.js';

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

test('a leftover that ends between the check and the signal ends no start', async () => {
  // The shell reaps it, so that the signal finds no process.
  const shell = spawn('sh', ['-c', 'sleep 600 & echo $!; wait']);
  children.push(shell);
  const pid = Number(await new Promise((resolve) => shell.stdout.once('data', resolve)));
  const endNow = (): NodeJS.Signals => {
    process.kill(pid, 'SIGKILL');
    while (isProcessRunning(pid));
    return 'SIGTERM';
  };
  const leftover: ChildIdentity = {
    ...{ name: 'sleeper', pid, startedAt: findProcess(pid)?.startedAt ?? '' },
    get orphanSignal() {
      return endNow();
    },
  };
  await endLeftovers([leftover]);
  expect(findProcess(pid)).toBeUndefined();
});

test('of several that take a stale lock at once, one succeeds, however long its leftovers take to end', async () => {
  const dead = await InstanceLock.take(directory);
  const slow = spawn('sh', ['-c', 'trap "sleep 1.5; exit" TERM; echo ready; while :; do sleep 0.05; done']);
  children.push(slow);
  await new Promise((resolve) => slow.stdout?.once('data', resolve));
  dead.addChild({ name: 'slow', orphanSignal: 'SIGTERM' }, slow.pid ?? 0);
  makeStale();
  const takes = await Promise.allSettled([1, 2, 3].map(() => InstanceLock.take(directory)));
  expect(takes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected']);
  const refusal = new StartProblem(`${directory} is in use by another instance (process ${process.pid}).`);
  for (const take of takes) if (take.status === 'rejected') expect(take.reason).toEqual(refusal);
  expect(tryReadLock(directory)).toEqual({ holder: ownIdentity(), children: [] });
  expect(readdirSync(directory)).toEqual(['instance.lock']);
});

test('take() waits for a claim that sorts behind its own, and removes the claim of a dead process', async () => {
  const later = join(directory, claimName(ownIdentity(), 'z'));
  const dead = join(directory, claimName({ ...ownIdentity(), startedAt: 'long ago' }, '0'));
  writeFileSync(later, '');
  writeFileSync(dead, '');
  const taking = InstanceLock.take(directory);
  await delay(100);
  expect([tryReadLock(directory), existsSync(dead)]).toEqual([undefined, false]);
  rmSync(later);
  (await taking).release();
});

test('take() refuses the lock that another instance has taken while it waited', async () => {
  const claim = join(directory, claimName(ownIdentity(), 'z'));
  writeFileSync(claim, '');
  const taking = InstanceLock.take(directory);
  await delay(100);
  const pid = startSleeper();
  const child = { name: 'sleeper', orphanSignal: 'SIGTERM', ...findProcess(pid) };
  writeFileSync(join(directory, 'instance.lock'), JSON.stringify({ holder: ownIdentity(), children: [child] }));
  rmSync(claim);
  await expect(taking).rejects.toThrow(`in use by another instance (process ${process.pid}).`);
  expect(findProcess(pid)).toBeDefined();
});

test.runIf(existsSync('/proc/self'))('a process that has ended does not run, although nothing reaps it', async () => {
  // The shell becomes the second sleeper, which never asks how the first one has ended.
  const parent = spawn('sh', ['-c', 'sleep 600 & echo $!; exec sleep 601']);
  children.push(parent);
  const pid = Number(await new Promise((resolve) => parent.stdout.once('data', resolve)));
  await vi.waitFor(() => expect(readFileSync(`/proc/${parent.pid}/cmdline`, 'utf8')).toMatch(/^sleep/), 10_000);
  process.kill(pid, 'SIGKILL');
  await vi.waitFor(() => expect(readFileSync(`/proc/${pid}/stat`, 'utf8')).toContain(') Z '), 10_000);
  expect(findProcess(pid)).toBeUndefined();
});

test('release() leaves the lock of another instance alone', async () => {
  const lock = await InstanceLock.take(directory);
  makeStale();
  lock.release();
  expect(tryReadLock(directory)?.holder.startedAt).toBe('long ago');
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
