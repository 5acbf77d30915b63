import { expect, test } from 'vitest';
import { ByteBudget } from '../../../src/platform/byte-budget.js';

test('who finds no room takes nothing', () => {
  const budget = new ByteBudget(10);
  const owners = ['a', 'b', 'c', 'd'];
  expect([6, 5, 3, 2].map((bytes, index) => budget.tryTake(bytes, owners[index] ?? ''))).toEqual([
    true,
    false,
    true,
    false,
  ]);
  budget.giveBack(6, 'a');
  expect(budget.tryTake(5, 'b')).toBe(true);
});

test('one owner alone holds three quarters at most, and what is left falls with those who hold, but never to nothing', () => {
  const budget = new ByteBudget(1000);
  const fill = (owner: string) => {
    let held = 0;
    while (budget.tryTake(1, owner)) held += 1;
    return held;
  };
  expect(['a', 'b', 'c'].map(fill)).toEqual([750, 187, 47]);
  budget.giveBack(750, 'a');
  expect(budget.tryTake(500, 'c')).toBe(true);
  expect(budget.tryTake(500, 'a')).toBe(false);
});

test('those who wait take turns by their keys', async () => {
  const budget = new ByteBudget(1);
  const entered: string[] = [];
  const waiting = ['a1', 'a2', 'a3', 'b1', 'b2'].map(async (name) => {
    await budget.take(1, name.slice(0, 1));
    entered.push(name);
    budget.give(1);
  });
  await Promise.all(waiting);
  expect(entered).toEqual(['a1', 'a2', 'b1', 'a3', 'b2']);
});

test('who waits enters in the order of asking, and what is larger than everything alone', async () => {
  const budget = new ByteBudget(10);
  const entered: number[] = [];
  const takes = [8, 12, 3, 7, 1].map((bytes) => budget.take(bytes).then(() => entered.push(bytes)));
  const enteredAfter = async (bytes?: number) => {
    if (bytes !== undefined) budget.give(bytes);
    await new Promise((resolve) => setImmediate(resolve));
    return [...entered];
  };
  expect(await enteredAfter()).toEqual([8]);
  expect(await enteredAfter(8)).toEqual([8, 12]);
  expect(await enteredAfter(12)).toEqual([8, 12, 3, 7]);
  expect(await enteredAfter(3)).toEqual([8, 12, 3, 7, 1]);
  await Promise.all(takes);
});
