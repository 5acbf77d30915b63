import { expect, test } from 'vitest';
import { ByteBudget } from '../../../src/platform/byte-budget.js';

test('who finds no room takes nothing', () => {
  const budget = new ByteBudget(10);
  expect([6, 5, 4, 1].map((bytes) => budget.tryTake(bytes))).toEqual([true, false, true, false]);
  budget.give(6);
  expect(budget.tryTake(6)).toBe(true);
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
