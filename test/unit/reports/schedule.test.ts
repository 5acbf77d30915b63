import { describe, expect, test } from 'vitest';
import { nextTimeOf, tryParseSchedule } from '../../../src/reports/schedule.js';

/** The next times after an instant, as RFC 3339. */
function timesOf(schedule: string, zone: string, after: string, count: number): string[] {
  const times: string[] = [];
  for (let last = new Date(after); times.length < count; times.push(last.toISOString())) {
    last = nextTimeOf(schedule, zone, last);
  }
  return times;
}

test.each([
  'daily 25:00',
  'daily 08:60',
  'daily',
  '08:00',
  'montag 08:00',
  'monthly 08:00',
  'monthly 0 08:00',
  'monthly 29 08:00',
  'hourly 08:00',
  'monday, friday 08:00',
  'daily 08:00 UTC',
])('%j is no time of a report', (text) => {
  expect(tryParseSchedule(text)).toBeUndefined();
});

// 2026-11-22 is a Sunday.
test.each([
  ['daily 08:00', ['2026-11-22T08:00:00.000Z', '2026-11-23T08:00:00.000Z']],
  ['monday 08:00', ['2026-11-23T08:00:00.000Z', '2026-11-30T08:00:00.000Z']],
  ['Sunday 6:30', ['2026-11-22T06:30:00.000Z', '2026-11-29T06:30:00.000Z']],
  ['sunday 00:00', ['2026-11-29T00:00:00.000Z', '2026-12-06T00:00:00.000Z']],
  ['weekdays 08:00', ['2026-11-23T08:00:00.000Z', '2026-11-24T08:00:00.000Z']],
  ['monthly 1 08:00', ['2026-12-01T08:00:00.000Z', '2027-01-01T08:00:00.000Z']],
  ['monthly 28 23:59', ['2026-11-28T23:59:00.000Z', '2026-12-28T23:59:00.000Z']],
])('%s is at %j', (schedule, times) => {
  expect(timesOf(schedule, 'UTC', '2026-11-22T00:00:00Z', 2)).toEqual(times);
});

test('weekdays leave out Saturday and Sunday', () => {
  expect(timesOf('weekdays 08:00', 'UTC', '2026-11-19T09:00:00Z', 3)).toEqual([
    '2026-11-20T08:00:00.000Z',
    '2026-11-23T08:00:00.000Z',
    '2026-11-24T08:00:00.000Z',
  ]);
});

describe('a change of the clocks', () => {
  test('keeps the local time', () => {
    expect(timesOf('monday 08:00', 'Europe/Berlin', '2026-10-19T06:00:00Z', 2)).toEqual([
      '2026-10-26T07:00:00.000Z',
      '2026-11-02T07:00:00.000Z',
    ]);
    expect(timesOf('daily 08:00', 'Europe/Berlin', '2026-03-27T07:00:00Z', 2)).toEqual([
      '2026-03-28T07:00:00.000Z',
      '2026-03-29T06:00:00.000Z',
    ]);
  });

  test('that skips a time moves it to the change, once', () => {
    // Clocks in Berlin show no time from 02:00 to 03:00 on 2026-03-29.
    expect(timesOf('daily 02:30', 'Europe/Berlin', '2026-03-28T00:00:00Z', 3)).toEqual([
      '2026-03-28T01:30:00.000Z',
      '2026-03-29T01:00:00.000Z',
      '2026-03-30T00:30:00.000Z',
    ]);
  });

  test('that repeats a time counts once', () => {
    // 02:30 is at 00:30 and at 01:30 UTC on 2026-10-25.
    expect(timesOf('daily 02:30', 'Europe/Berlin', '2026-10-24T12:00:00Z', 2)).toEqual([
      '2026-10-25T00:30:00.000Z',
      '2026-10-26T01:30:00.000Z',
    ]);
    expect(timesOf('daily 02:30', 'Europe/Berlin', '2026-10-25T01:10:00Z', 1)).toEqual(['2026-10-26T01:30:00.000Z']);
  });
});

test.each([
  // Clocks change at midnight.
  ['America/Santiago', '00:30'],
  ['Africa/Cairo', '00:00'],
])('in %s, a report at %s is sent on each day of a year, once', (zone, time) => {
  const times = timesOf(`daily ${time}`, zone, '2026-01-01T12:00:00Z', 366);
  const days = times.map((at) => new Intl.DateTimeFormat('en-CA', { timeZone: zone }).format(new Date(at)));
  expect(new Set(days).size).toBe(366);
});
