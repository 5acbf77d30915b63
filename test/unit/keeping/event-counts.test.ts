import { expect, test } from 'vitest';
import { addCounts, goneOf, sumOf } from '../../../src/keeping/event-counts.js';

const view = (events: number) => ({ event: 'view', events });
const order = (events: number) => ({ event: 'order', events });

test('counts are added by type, and the most frequent is first', () => {
  expect(addCounts([view(2), order(1)], [order(4)])).toEqual([order(5), view(2)]);
  expect(addCounts([order(1)], [view(4)])).toEqual([view(4), order(1)]);
  // Of as many, by name.
  expect(addCounts([view(2)], [order(2)])).toEqual([order(2), view(2)]);
  expect(addCounts([order(2)], [view(2)])).toEqual([order(2), view(2)]);
  expect(addCounts([], [])).toEqual([]);
});

test('what was counted and is no longer there is gone', () => {
  expect(goneOf([view(5), order(2)], [view(3)])).toEqual([view(2), order(2)]);
  expect(goneOf([view(5), order(2)], [view(4), order(2)])).toEqual([view(1)]);
  // More than were counted: others have arrived.
  expect(goneOf([view(5)], [view(7)])).toEqual([]);
});

test('a run that failed and the next one count each event once', () => {
  const counted = [view(5)];
  for (const left of [[view(5)], [view(2)], []]) {
    expect(sumOf(addCounts(goneOf(counted, left), left))).toBe(5);
  }
});
