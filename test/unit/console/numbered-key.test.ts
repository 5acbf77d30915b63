// Keys of new dashboards whose key is taken.
import { expect, test } from 'vitest';
import { numbered } from '../../../console/src/dashboards/numbered-key.js';
import { parseDashboardKey } from '../../../src/dashboards/schema.js';

test('a key that is taken gets a number, and stays a key', () => {
  expect([1, 2, 20].map((count) => numbered('sales', count))).toEqual(['sales', 'sales-2', 'sales-20']);
  const longest = `${'a'.repeat(60)}-bc`;
  // Called once for each count: the last one has the time.
  for (const key of [1, 2, 21].map((count) => numbered(longest, count))) expect(parseDashboardKey(key)).toBe(key);
  expect(numbered(longest, 2)).toBe(`${'a'.repeat(60)}-2`);
});

test('behind twenty of one name, the number is another one than theirs', () => {
  expect(Number(numbered('mine', 21).slice('mine-'.length))).toBeGreaterThan(20);
  expect(numbered('mine', 21)).not.toBe('mine-21');
});
