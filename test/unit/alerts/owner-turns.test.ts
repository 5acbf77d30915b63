import { expect, test } from 'vitest';
import { OwnerTurns } from '../../../src/alerts/owner-turns.js';

test('the owner that was served longest ago is first', () => {
  const turns = new OwnerTurns();
  for (const owner of ['a', 'b', 'c', 'a']) turns.take(owner);
  expect(turns.served).toEqual(['b', 'c', 'a']);
});

test('the owners that were served longest ago are forgotten above the limit', () => {
  const turns = new OwnerTurns();
  for (let owner = 0; owner < 1002; owner++) turns.take(String(owner));
  expect(turns.served).toHaveLength(1000);
  expect(turns.served[0]).toBe('2');
});
