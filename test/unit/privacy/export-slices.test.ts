// Slices of time of an export, by the number of events.
import { expect, test } from 'vitest';
import { toSlices } from '../../../src/privacy/export-slices.js';

const HOUR_MS = 3_600_000;
const hours = (...counts: readonly [hour: number, events: number][]) =>
  counts.map(([hour, events]) => ({ start: hour * 3600, events }));

test.each([
  ['nothing', hours(), []],
  ['events that fit are one slice, over hours without events', hours([0, 4], [9, 6]), [[0, 10, 10]]],
  [
    'the first is small, the next has twice as many, up to the limit',
    hours([0, 10], [1, 20], [2, 30], [3, 30]),
    [
      [0, 1, 10],
      [1, 2, 20],
      [2, 3, 30],
      [3, 4, 30],
    ],
  ],
  [
    'an hour with too many events is a slice of its own',
    hours([0, 5], [1, 99], [2, 5], [3, 5]),
    [
      [0, 1, 5],
      [1, 2, 99],
      [2, 4, 10],
    ],
  ],
])('toSlices(): %s', (_, counted, expected) => {
  const slices = toSlices(counted, { seconds: 3600, eventsMax: { first: 10, later: 30 } });
  expect(slices).toEqual(
    expected.map(([from = 0, until = 0, events]) => ({ fromMs: from * HOUR_MS, untilMs: until * HOUR_MS, events })),
  );
});
