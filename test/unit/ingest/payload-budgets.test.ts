// The parts of shards in the payloads that a worker holds.
import { expect, test } from 'vitest';
import { PayloadBudgets } from '../../../src/ingest/insert/payload-budgets.js';

const MIB = 1024 * 1024;

test('one busy shard of a few holds as much as a single shard', () => {
  const alone = new PayloadBudgets().divideAmong([1]).get(1);
  const beside = new PayloadBudgets().divideAmong([1, 2, 3]).get(1);
  expect(alone?.bulk.free).toBe(24 * MIB);
  expect(alone?.prompt.free).toBe(8 * MIB);
  expect(beside?.bulk.free).toBe(alone?.bulk.free);
  expect(beside?.prompt.free).toBe(alone?.prompt.free);
});

test('many shards hold 128 MiB together, and a new one takes its part from the others', () => {
  const budgets = new PayloadBudgets();
  const ids = Array.from({ length: 16 }, (_, index) => index + 1);
  const first = [...budgets.divideAmong(ids).values()];
  expect(first.reduce((bytes, { prompt, bulk }) => bytes + prompt.free + bulk.free, 0)).toBe(128 * MIB);

  const added = budgets.divideAmong([...ids, 17]);
  expect([...added.keys()]).toEqual([17]);
  const all = [...first, ...added.values()];
  expect(Math.round(all.reduce((bytes, { prompt, bulk }) => bytes + prompt.free + bulk.free, 0))).toBe(128 * MIB);
});

test('what a shard holds takes nothing from another', async () => {
  const budgets = new PayloadBudgets().divideAmong([1, 2, 3]);
  await budgets.get(2)?.bulk.acquire(24 * MIB);
  expect(budgets.get(2)?.bulk.free).toBe(0);
  expect(budgets.get(1)?.bulk.free).toBe(24 * MIB);
});
