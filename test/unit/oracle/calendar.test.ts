// Oracle: time ranges and time buckets in time zones.
import { describe, expect, test } from 'vitest';
import { bucketOf, bucketsOf, intervalOf, startOfDate, toRfc3339 } from '../../oracle/calendar.js';
import type { CalendarUnit, Range } from '../../oracle/question.js';

const WEEK = { count: 7, unit: 'd' } as const;
const clock = (now: string, timezone = 'UTC') => ({ now: Date.parse(now), timezone });

function interval(range: Range | undefined, now: string, timezone?: string): string {
  const { start, end } = intervalOf(range, WEEK, clock(now, timezone));
  return `${toRfc3339(start)}/${toRfc3339(end)}`.replaceAll('.000Z', 'Z');
}

describe('a range in intervalOf()', () => {
  const FRIDAY = '2026-11-20T09:30:00Z';
  test.each<[string, Range | undefined, string, string | undefined, string]>([
    [
      'rolls',
      { kind: 'last', span: { count: 24, unit: 'h' } },
      FRIDAY,
      'UTC',
      '2026-11-19T09:30:00Z/2026-11-20T09:30:00Z',
    ],
    ['has a default', undefined, FRIDAY, 'UTC', '2026-11-13T09:30:00Z/2026-11-20T09:30:00Z'],
    [
      'counts days of 24 hours, also over a change of the clocks',
      { kind: 'last', span: { count: 1, unit: 'd' } },
      '2024-03-31T10:00:00Z',
      'Europe/Berlin',
      '2024-03-30T10:00:00Z/2024-03-31T10:00:00Z',
    ],
    [
      'subtracts calendar months, up to the last day of a shorter one',
      { kind: 'last', span: { count: 1, unit: 'mo' } },
      '2024-03-31T10:00:00Z',
      'UTC',
      '2024-02-29T10:00:00Z/2024-03-31T10:00:00Z',
    ],
    [
      'subtracts years',
      { kind: 'last', span: { count: 1, unit: 'y' } },
      '2024-02-29T10:00:00Z',
      'UTC',
      '2023-02-28T10:00:00Z/2024-02-29T10:00:00Z',
    ],
    ['of today ends now', { kind: 'today' }, FRIDAY, 'UTC', '2026-11-20T00:00:00Z/2026-11-20T09:30:00Z'],
    [
      'of today starts at midnight of the time zone',
      { kind: 'today' },
      FRIDAY,
      'Asia/Kolkata',
      '2026-11-19T18:30:00Z/2026-11-20T09:30:00Z',
    ],
    ['of yesterday is whole', { kind: 'yesterday' }, FRIDAY, 'UTC', '2026-11-19T00:00:00Z/2026-11-20T00:00:00Z'],
    [
      'of a day on which clocks are set forward has 23 hours',
      { kind: 'yesterday' },
      '2024-04-01T10:00:00Z',
      'Europe/Berlin',
      '2024-03-30T23:00:00Z/2024-03-31T22:00:00Z',
    ],
    [
      'of a day on which clocks are set back has 25',
      { kind: 'yesterday' },
      '2024-10-28T10:00:00Z',
      'Europe/Berlin',
      '2024-10-26T22:00:00Z/2024-10-27T23:00:00Z',
    ],
    [
      'of this week starts on Monday',
      { kind: 'this', unit: 'week' },
      FRIDAY,
      'UTC',
      '2026-11-16T00:00:00Z/2026-11-20T09:30:00Z',
    ],
    [
      'of this week starts on Monday, also on a Sunday',
      { kind: 'this', unit: 'week' },
      '2026-11-22T09:30:00Z',
      'UTC',
      '2026-11-16T00:00:00Z/2026-11-22T09:30:00Z',
    ],
    ['of this month', { kind: 'this', unit: 'month' }, FRIDAY, 'UTC', '2026-11-01T00:00:00Z/2026-11-20T09:30:00Z'],
    ['of this quarter', { kind: 'this', unit: 'quarter' }, FRIDAY, 'UTC', '2026-10-01T00:00:00Z/2026-11-20T09:30:00Z'],
    [
      'of this year is the year of the time zone',
      { kind: 'this', unit: 'year' },
      '2025-01-01T00:30:00Z',
      'America/New_York',
      '2024-01-01T05:00:00Z/2025-01-01T00:30:00Z',
    ],
    [
      'reads dates in the time zone',
      { kind: 'from', from: '2026-11-01', to: '2026-11-03' },
      FRIDAY,
      'Pacific/Tongatapu',
      '2026-10-31T11:00:00Z/2026-11-02T11:00:00Z',
    ],
    [
      'reads timestamps without an offset in the time zone',
      { kind: 'from', from: '2026-11-01T10:00:00', to: '2026-11-03T10:00:00+05:30' },
      FRIDAY,
      'Europe/Berlin',
      '2026-11-01T09:00:00Z/2026-11-03T04:30:00Z',
    ],
  ])('%s', (_rule, range, now, timezone, expected) => {
    expect(interval(range, now, timezone)).toBe(expected);
  });
});

describe('time buckets of the oracle', () => {
  test.each<[string, CalendarUnit, string, string]>([
    ['2026-11-20T23:59:59.999Z', 'day', 'UTC', '2026-11-20'],
    ['2026-11-20T11:00:00Z', 'day', 'Pacific/Tongatapu', '2026-11-21'],
    ['2026-11-20T11:59:59Z', 'day', 'Etc/GMT+12', '2026-11-19'],
    ['2026-11-22T23:00:00Z', 'week', 'UTC', '2026-11-16'],
    ['2026-11-22T23:00:00Z', 'week', 'Europe/Berlin', '2026-11-23'],
    ['2024-02-29T23:30:00Z', 'month', 'Europe/Berlin', '2024-03-01'],
    ['2026-11-20T00:00:00Z', 'quarter', 'UTC', '2026-10-01'],
    ['2026-11-20T09:45:00Z', 'hour', 'UTC', '2026-11-20T09:00:00.000Z'],
    ['2026-11-20T09:45:00Z', 'hour', 'Asia/Kolkata', '2026-11-20T09:30:00.000Z'],
  ])('bucketOf(%s) by %s in %s is %s', (time, unit, zone, expected) => {
    expect(bucketOf(Date.parse(time), unit, zone)).toBe(expected);
  });

  test('bucketOf() gives two buckets for an hour that the clock repeats', () => {
    const [first, second] = ['2024-10-27T00:30:00Z', '2024-10-27T01:30:00Z'].map((time) =>
      bucketOf(Date.parse(time), 'hour', 'Europe/Berlin'),
    );
    expect([first, second]).toEqual(['2024-10-27T00:00:00.000Z', '2024-10-27T01:00:00.000Z']);
  });

  test('bucketsOf() returns every period that the range touches', () => {
    const days = (from: string, to: string) =>
      bucketsOf({ start: Date.parse(from), end: Date.parse(to) }, 'day', 'UTC');
    expect(days('2026-11-13T09:30:00Z', '2026-11-20T09:30:00Z')).toHaveLength(8);
    expect(days('2026-11-13T00:00:00Z', '2026-11-14T00:00:00Z')).toEqual(['2026-11-13']);
    expect(days('2026-11-13T00:00:00Z', '2026-11-13T00:00:00Z')).toEqual([]);
  });

  test('bucketsOf() returns one bucket for a day on which the clocks change', () => {
    const range = { start: Date.parse('2024-10-26T12:00:00Z'), end: Date.parse('2024-10-28T12:00:00Z') };
    expect(bucketsOf(range, 'day', 'Europe/Berlin')).toEqual(['2024-10-26', '2024-10-27', '2024-10-28']);
    expect(bucketsOf(range, 'hour', 'Europe/Berlin')).toHaveLength(48);
  });
});

test('startOfDate() of a day without midnight is its first instant', () => {
  expect(toRfc3339(startOfDate('2024-04-26', 'Africa/Cairo'))).toBe('2024-04-25T22:00:00.000Z');
});
