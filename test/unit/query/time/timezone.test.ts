// Names of time zones, and instants of local times around clock changes.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findTimeZone, instantOf, offsetAt, wallTimeAt } from '../../../../src/query/time/timezone.js';

const iso = (ms: number): string => new Date(ms).toISOString();
const HOUR_MS = 3_600_000;

describe('findTimeZone', () => {
  test.each(['UTC', 'Europe/Berlin', 'Pacific/Kiritimati', 'Etc/GMT+12'])('accepts %s', (zone) => {
    expect(findTimeZone(zone)).toBe(zone);
  });
  test.each([
    '',
    'Mars/Olympus',
    '+02:00',
    'Europe',
    "UTC' OR 1",
    'Europe/Berlin; DROP',
    '../etc/passwd',
    '__proto__',
    'SystemV/PST8',
  ])('rejects %j', (zone) => {
    expect(findTimeZone(zone)).toBeUndefined();
  });
});

test.each([
  ['europe/berlin', 'Europe/Berlin'],
  ['utc', 'UTC'],
  ['Etc/UTC', 'UTC'],
  ['Asia/Kolkata', 'Asia/Kolkata'],
  ['Asia/Calcutta', 'Asia/Calcutta'],
  ['asia/kathmandu', 'Asia/Kathmandu'],
  ['us/pacific', 'US/Pacific'],
  ['Europe/Kyiv', 'Europe/Kyiv'],
  ['PST', 'America/Los_Angeles'],
])('findTimeZone(%s) is %s', (name, zone) => {
  expect(findTimeZone(name)).toBe(zone);
});

describe('instantOf', () => {
  test.each([
    ['an ordinary midnight', 'Europe/Berlin', { year: 2026, month: 7, day: 1 }, '2026-06-30T22:00:00.000Z'],
    [
      'a skipped hour is the moment of the skip',
      'Europe/Berlin',
      { year: 2026, month: 3, day: 29, hour: 2, minute: 30 },
      '2026-03-29T01:00:00.000Z',
    ],
    [
      'a repeated hour is its first time',
      'Europe/Berlin',
      { year: 2026, month: 10, day: 25, hour: 2, minute: 30 },
      '2026-10-25T00:30:00.000Z',
    ],
    [
      'a day without a midnight begins at one',
      'Africa/Cairo',
      { year: 2026, month: 4, day: 24 },
      '2026-04-23T22:00:00.000Z',
    ],
    ['thirteen hours ahead', 'Pacific/Tongatapu', { year: 2026, month: 1, day: 1 }, '2025-12-31T11:00:00.000Z'],
    ['fourteen hours ahead', 'Pacific/Kiritimati', { year: 2026, month: 1, day: 1 }, '2025-12-31T10:00:00.000Z'],
    ['eleven hours behind', 'Pacific/Pago_Pago', { year: 2026, month: 1, day: 1 }, '2026-01-01T11:00:00.000Z'],
    ['three quarters of an hour', 'Asia/Kathmandu', { year: 2026, month: 1, day: 1 }, '2025-12-31T18:15:00.000Z'],
    [
      'half an hour of summer time',
      'Australia/Lord_Howe',
      { year: 2026, month: 1, day: 1 },
      '2025-12-31T13:00:00.000Z',
    ],
    ['the day that Samoa left out', 'Pacific/Apia', { year: 2011, month: 12, day: 30 }, '2011-12-30T10:00:00.000Z'],
    ['month 13', 'UTC', { year: 2026, month: 13, day: 1 }, '2027-01-01T00:00:00.000Z'],
    ['a leap day', 'UTC', { year: 2028, month: 2, day: 29 }, '2028-02-29T00:00:00.000Z'],
  ])('%s', (_, zone, wall, expected) => {
    expect(iso(instantOf(wall, zone))).toBe(expected);
  });
});

test('instantOf() inverts the local time of every instant in every zone', () => {
  const zones = Intl.supportedValuesOf('timeZone').filter((zone) => findTimeZone(zone) !== undefined);
  const instant = fc.integer({ min: Date.UTC(2000, 0), max: Date.UTC(2035, 0) });
  fc.assert(
    fc.property(fc.constantFrom(...zones), instant, (zone, ms) => {
      const back = instantOf(wallTimeAt(ms, zone), zone);
      // An hour that the clock repeats means its first occurrence.
      expect([0, HOUR_MS, HOUR_MS / 2, 2 * HOUR_MS, 24 * HOUR_MS, HOUR_MS * 3]).toContain(ms - back);
      expect(Math.abs(offsetAt(ms, zone))).toBeLessThanOrEqual(15 * HOUR_MS);
    }),
    { numRuns: 500 },
  );
});
