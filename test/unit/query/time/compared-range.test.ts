// Earlier range of `compare`.
import { expect, test } from 'vitest';
import { compile } from '../../../../src/query/compile.js';
import { CONTEXT } from '../compiling.js';

function earlierOf(stages: string, now: string, timezone = 'UTC'): string {
  const { earlier } = compile(`* | ${stages}`, { ...CONTEXT, nowMs: Date.parse(now), timezone });
  const text = (ms: number | undefined) => new Date(ms ?? 0).toISOString();
  return `${text(earlier?.fromMs)}/${text(earlier?.toMs)}`.replaceAll(':00.000Z', 'Z');
}

const FRIDAY = '2026-11-20T09:30:00Z';

test.each([
  ['compare previous', '2026-11-06T09:30Z/2026-11-13T09:30Z'],
  ['last 90m | compare previous', '2026-11-20T06:30Z/2026-11-20T08:00Z'],
  ['since 2026-11-19 | compare previous', '2026-11-17T14:30Z/2026-11-19T00:00Z'],
  ['from 2026-11-10 to 2026-11-12 | compare previous', '2026-11-08T00:00Z/2026-11-10T00:00Z'],
  ['today | compare previous', '2026-11-19T00:00Z/2026-11-19T09:30Z'],
  ['yesterday | compare previous', '2026-11-18T00:00Z/2026-11-19T00:00Z'],
  ['this week | compare previous', '2026-11-09T00:00Z/2026-11-13T09:30Z'],
  ['this month | compare previous', '2026-10-01T00:00Z/2026-10-20T09:30Z'],
  ['this year | compare previous', '2025-01-01T00:00Z/2025-11-20T09:30Z'],
  ['last month | compare previous', '2026-09-01T00:00Z/2026-10-01T00:00Z'],
  ['last quarter | compare previous', '2026-04-01T00:00Z/2026-07-01T00:00Z'],
  ['last 7d | compare 7d', '2026-11-06T09:30Z/2026-11-13T09:30Z'],
  ['last 7d | compare 1 year', '2025-11-13T09:30Z/2025-11-20T09:30Z'],
  ['this month | compare 1y', '2025-11-01T00:00Z/2025-11-20T09:30Z'],
  ['this month | compare 1mo', '2026-10-01T00:00Z/2026-10-20T09:30Z'],
  ['last 2h | compare 24h', '2026-11-19T07:30Z/2026-11-19T09:30Z'],
  ['last 7d | compare weekdays', '2026-11-06T09:30Z/2026-11-13T09:30Z'],
  ['last 8d | compare weekdays', '2026-10-29T09:30Z/2026-11-06T09:30Z'],
  ['today | compare weekdays', '2026-11-13T00:00Z/2026-11-13T09:30Z'],
  ['from 2026-11-01 to 2026-11-15 | compare weekdays', '2026-10-18T00:00Z/2026-11-01T00:00Z'],
  ['compare from 2026-01-01 to "2026-01-02 12:00"', '2026-01-01T00:00Z/2026-01-02T12:00Z'],
])('the earlier range of "%s"', (stages, expected) => {
  expect(earlierOf(stages, FRIDAY)).toBe(expected);
});

// On Friday at 09:30, 19 days and nine and a half hours of November have passed.
test.each([
  ['from 2026-11-01 to 2026-12-01 | compare previous', '2026-10-02T00:00Z/2026-10-21T09:30Z'],
  ['from "2026-11-20 06:00" to "2026-11-20 18:00" | compare previous', '2026-11-19T18:00Z/2026-11-19T21:30Z'],
  ['from 2026-11-16 to 2026-11-23 | compare previous', '2026-11-09T00:00Z/2026-11-13T09:30Z'],
  ['from 2026-11-16 to 2026-11-23 | compare weekdays', '2026-11-09T00:00Z/2026-11-13T09:30Z'],
  ['from 2026-11-01 to 2026-12-01 | compare weekdays', '2026-10-11T00:00Z/2026-10-30T09:30Z'],
  ['from 2026-11-01 to 2026-12-01 | compare 1mo', '2026-10-01T00:00Z/2026-10-20T09:30Z'],
  ['from 2026-11-01 to 2026-12-01 | compare 1y', '2025-11-01T00:00Z/2025-11-20T09:30Z'],
  ['from 2026-11-16 to 2026-11-23 | compare 7d', '2026-11-09T00:00Z/2026-11-13T09:30Z'],
  ['from 2026-11-16 to 2026-11-23 | compare from 2026-11-09 to 2026-11-16', '2026-11-09T00:00Z/2026-11-16T00:00Z'],
  ['from 2026-12-01 to 2026-12-08 | compare previous', '2026-11-24T00:00Z/2026-12-01T00:00Z'],
])('a range that is still running is compared with the same part: %s', (stages, expected) => {
  expect(earlierOf(stages, FRIDAY)).toBe(expected);
});

test('the same part of a shorter month ends with that month', () => {
  expect(earlierOf('this month | compare previous', '2026-03-31T09:30:00Z')).toBe(
    '2026-02-01T00:00Z/2026-03-01T00:00Z',
  );
  expect(earlierOf('this month | compare 1mo', '2026-03-31T09:30:00Z')).toBe('2026-02-01T00:00Z/2026-02-28T09:30Z');
});

test('a range of days that the earlier month lacks keeps its length', () => {
  const stages = 'from 2026-03-30 to 2026-03-31 | compare 1mo';
  expect(earlierOf(stages, FRIDAY)).toBe('2026-02-28T00:00Z/2026-03-01T00:00Z');
});

// Clocks in Berlin were set back on 2026-10-25: that day has 25 hours.
test.each([
  ['from 2026-10-25 to 2026-10-26 | compare previous', '2026-10-23T22:00Z/2026-10-24T22:00Z'],
  ['from 2026-10-26 to 2026-10-27 | compare previous', '2026-10-24T22:00Z/2026-10-25T23:00Z'],
  ['from 2026-10-26 to 2026-11-02 | compare weekdays', '2026-10-18T22:00Z/2026-10-25T23:00Z'],
  ['from 2026-10-19 to 2026-10-26 | compare weekdays', '2026-10-11T22:00Z/2026-10-18T22:00Z'],
  ['from 2026-10-26 to 2026-10-28 | compare 2d', '2026-10-23T22:00Z/2026-10-25T23:00Z'],
  ['from 2026-11-01 to 2026-11-03 | compare 1mo', '2026-09-30T22:00Z/2026-10-02T22:00Z'],
])('the earlier range uses days of the time zone: %s', (stages, expected) => {
  expect(earlierOf(stages, FRIDAY, 'Europe/Berlin')).toBe(expected);
});

// Samoa had no 30th.
test.each(['compare previous', 'compare 1d'])('the day before a skipped day: %s', (compare) => {
  const stages = `from 2011-12-31 to 2012-01-01 | ${compare}`;
  expect(earlierOf(stages, FRIDAY, 'Pacific/Apia')).toBe('2011-12-29T10:00Z/2011-12-30T10:00Z');
});
