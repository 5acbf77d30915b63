// Distinct counts: exact below the limit, an estimate above it.
import { expect, test } from 'vitest';
import { DistinctCounter } from '../../../src/imports/distinct-counter.js';

function count(distinct: number, exactMax: number) {
  const counter = new DistinctCounter(exactMax);
  for (let n = 0; n < distinct * 2; n += 1) counter.add(`person ${n % distinct}`);
  return counter.value;
}

test('counts are exact up to the limit', () => {
  expect(count(5000, 5000)).toEqual({ count: 5000, isExact: true });
});

test('counts above the limit are estimated within five standard errors', () => {
  const { count: estimate, isExact } = count(100_000, 1000);
  expect(isExact).toBe(false);
  expect(Math.abs(estimate - 100_000)).toBeLessThan(5 * 0.0081 * 100_000);
});
