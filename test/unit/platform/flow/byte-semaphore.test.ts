// ByteSemaphore: limits per owner, and order of waiting callers.
import { expect, test } from 'vitest';
import { ByteSemaphore } from '../../../../src/platform/flow/byte-semaphore.js';

test('tryAcquire() takes nothing when it fails', () => {
  const semaphore = new ByteSemaphore(10);
  const owners = ['a', 'b', 'c', 'd'];
  expect([6, 5, 3, 2].map((bytes, index) => semaphore.tryAcquire(bytes, owners[index] ?? ''))).toEqual([
    true,
    false,
    true,
    false,
  ]);
  semaphore.giveBack(6, 'a');
  expect(semaphore.tryAcquire(5, 'b')).toBe(true);
});

test('an owner holds at most three quarters, less with more owners, but always something', () => {
  const semaphore = new ByteSemaphore(1000);
  const fill = (owner: string) => {
    let held = 0;
    while (semaphore.tryAcquire(1, owner)) held += 1;
    return held;
  };
  expect(['a', 'b', 'c'].map(fill)).toEqual([750, 187, 47]);
  semaphore.giveBack(750, 'a');
  expect(semaphore.tryAcquire(500, 'c')).toBe(true);
  expect(semaphore.tryAcquire(500, 'a')).toBe(false);
});

test('an owner has the whole share again after giving back', () => {
  const semaphore = new ByteSemaphore(10);
  for (let round = 0; round < 3; round += 1) {
    expect(semaphore.tryAcquire(7, 'a')).toBe(true);
    semaphore.giveBack(7, 'a');
  }
});

test('acquire() is round-robin by key', async () => {
  const semaphore = new ByteSemaphore(1);
  const entered: string[] = [];
  const waiting = ['a1', 'a2', 'a3', 'b1', 'b2'].map(async (name) => {
    await semaphore.acquire(1, name.slice(0, 1));
    entered.push(name);
    semaphore.release(1);
  });
  await Promise.all(waiting);
  expect(entered).toEqual(['a1', 'a2', 'b1', 'a3', 'b2']);
});

test('acquire() is first in, first out, and admits a weight above the limit alone', async () => {
  const semaphore = new ByteSemaphore(10);
  const entered: number[] = [];
  const takes = [8, 12, 3, 7, 1].map((bytes) => semaphore.acquire(bytes).then(() => entered.push(bytes)));
  const enteredAfter = async (bytes?: number) => {
    if (bytes !== undefined) semaphore.release(bytes);
    await new Promise((resolve) => setImmediate(resolve));
    return [...entered];
  };
  expect(await enteredAfter()).toEqual([8]);
  expect(await enteredAfter(8)).toEqual([8, 12]);
  expect(await enteredAfter(12)).toEqual([8, 12, 3, 7]);
  expect(await enteredAfter(3)).toEqual([8, 12, 3, 7, 1]);
  await Promise.all(takes);
});

test('a higher limit admits waiting callers, and a lower one only after releases', async () => {
  const semaphore = new ByteSemaphore(4);
  const entered: number[] = [];
  const acquire = (bytes: number) => semaphore.acquire(bytes).then(() => entered.push(bytes));
  const takes = [3, 2].map(acquire);
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  await turn();
  expect(entered).toEqual([3]);
  semaphore.bytesMax = 6;
  await turn();
  expect(entered).toEqual([3, 2]);
  semaphore.bytesMax = 2;
  expect(semaphore.free).toBe(-3);
  takes.push(acquire(1));
  semaphore.release(3);
  await turn();
  expect(entered).toEqual([3, 2]);
  semaphore.release(2);
  await Promise.all(takes);
  expect(entered).toEqual([3, 2, 1]);
});
