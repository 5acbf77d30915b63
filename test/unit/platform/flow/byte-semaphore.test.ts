import { expect, test } from 'vitest';
import { ByteSemaphore } from '../../../../src/platform/flow/byte-semaphore.js';

test('who finds no room takes nothing', () => {
  const budget = new ByteSemaphore(10);
  const owners = ['a', 'b', 'c', 'd'];
  expect([6, 5, 3, 2].map((bytes, index) => budget.tryAcquire(bytes, owners[index] ?? ''))).toEqual([
    true,
    false,
    true,
    false,
  ]);
  budget.giveBack(6, 'a');
  expect(budget.tryAcquire(5, 'b')).toBe(true);
});

test('one owner alone holds three quarters at most, and what is left falls with those who hold, but never to nothing', () => {
  const budget = new ByteSemaphore(1000);
  const fill = (owner: string) => {
    let held = 0;
    while (budget.tryAcquire(1, owner)) held += 1;
    return held;
  };
  expect(['a', 'b', 'c'].map(fill)).toEqual([750, 187, 47]);
  budget.giveBack(750, 'a');
  expect(budget.tryAcquire(500, 'c')).toBe(true);
  expect(budget.tryAcquire(500, 'a')).toBe(false);
});

test('those who wait take turns by their keys', async () => {
  const budget = new ByteSemaphore(1);
  const entered: string[] = [];
  const waiting = ['a1', 'a2', 'a3', 'b1', 'b2'].map(async (name) => {
    await budget.acquire(1, name.slice(0, 1));
    entered.push(name);
    budget.release(1);
  });
  await Promise.all(waiting);
  expect(entered).toEqual(['a1', 'a2', 'b1', 'a3', 'b2']);
});

test('who waits enters in the order of asking, and what is larger than everything alone', async () => {
  const budget = new ByteSemaphore(10);
  const entered: number[] = [];
  const takes = [8, 12, 3, 7, 1].map((bytes) => budget.acquire(bytes).then(() => entered.push(bytes)));
  const enteredAfter = async (bytes?: number) => {
    if (bytes !== undefined) budget.release(bytes);
    await new Promise((resolve) => setImmediate(resolve));
    return [...entered];
  };
  expect(await enteredAfter()).toEqual([8]);
  expect(await enteredAfter(8)).toEqual([8, 12]);
  expect(await enteredAfter(12)).toEqual([8, 12, 3, 7]);
  expect(await enteredAfter(3)).toEqual([8, 12, 3, 7, 1]);
  await Promise.all(takes);
});
