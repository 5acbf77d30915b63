import { expect, test } from 'vitest';
import { RestAfterBurst } from '../../../src/platform/rest-memory.js';

const looksOf = (shares: readonly number[]): boolean[] => {
  const rest = new RestAfterBurst();
  return shares.map((share) => rest.isBegun(share));
};

test('the start of a process is a burst, after which it rests once', () => {
  expect(looksOf([0.5, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01])).toEqual([false, false, false, true, false, false, false]);
});

test('work between two looks at rest starts the count at zero', () => {
  expect(looksOf([0.01, 0.01, 0.1, 0.01, 0.01, 0.01])).toEqual([false, false, false, false, false, true]);
});

test('only a further burst makes a rested process return memory again', () => {
  const rested = [0.01, 0.01, 0.01];
  expect(looksOf([...rested, 0.1, ...rested])[6]).toBe(false);
  expect(looksOf([...rested, 0.3, ...rested])[6]).toBe(true);
});
