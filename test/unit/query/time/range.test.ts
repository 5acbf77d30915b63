// Time ranges of queries: rolling, calendar and absolute, in time zones.
import { describe, expect, test } from 'vitest';
import { toProjectId } from '../../../../src/platform/ids.js';
import { compile } from '../../../../src/query/compile.js';
import { tryParseMoment } from '../../../../src/query/time/moment.js';
import { subtractMonths } from '../../../../src/query/time/range.js';

const projectId = toProjectId('00000000-0000-7000-8000-000000000001');

function rangeOf(stage: string, now: string, timezone = 'UTC'): string {
  const query = `* | ${stage} | count`;
  const { range } = compile(query, { projectId, nowMs: Date.parse(now), timezone, limit: 100, offset: 0 });
  return `${new Date(range.fromMs).toISOString()}/${new Date(range.toMs).toISOString()}`.replaceAll('.000Z', 'Z');
}

const FRIDAY = '2026-11-20T09:30:00Z';

test.each([
  ['where time exists', '2026-11-13T09:30:00Z/2026-11-20T09:30:00Z'],
  ['last 90m', '2026-11-20T08:00:00Z/2026-11-20T09:30:00Z'],
  ['last 24h', '2026-11-19T09:30:00Z/2026-11-20T09:30:00Z'],
  ['last 7d', '2026-11-13T09:30:00Z/2026-11-20T09:30:00Z'],
  ['last 2w', '2026-11-06T09:30:00Z/2026-11-20T09:30:00Z'],
  ['last 1mo', '2026-10-20T09:30:00Z/2026-11-20T09:30:00Z'],
  ['last 1y', '2025-11-20T09:30:00Z/2026-11-20T09:30:00Z'],
  ['last 5000y', '1970-01-12T00:00:00Z/2026-11-20T09:30:00Z'],
  ['last 40000000h', '1970-01-12T00:00:00Z/2026-11-20T09:30:00Z'],
  ['from 1900-01-01 to 2026-02-01', '1970-01-12T00:00:00Z/2026-02-01T00:00:00Z'],
  ['from 2026-01-01 to 2299-12-31', '2026-01-01T00:00:00Z/2100-01-01T00:00:00Z'],
  ['from 2026-01-01 to 2026-02-01', '2026-01-01T00:00:00Z/2026-02-01T00:00:00Z'],
  ['from "2026-01-01 10:15" to 2026-01-01T12:00:00+01:00', '2026-01-01T10:15:00Z/2026-01-01T11:00:00Z'],
  ['today', '2026-11-20T00:00:00Z/2026-11-20T09:30:00Z'],
  ['yesterday', '2026-11-19T00:00:00Z/2026-11-20T00:00:00Z'],
  ['last 7 days', '2026-11-13T09:30:00Z/2026-11-20T09:30:00Z'],
  ['last 1 Day', '2026-11-19T09:30:00Z/2026-11-20T09:30:00Z'],
  ['last 90 minutes', '2026-11-20T08:00:00Z/2026-11-20T09:30:00Z'],
  ['last 2 months', '2026-09-20T09:30:00Z/2026-11-20T09:30:00Z'],
  ['last 1 years', '2025-11-20T09:30:00Z/2026-11-20T09:30:00Z'],
  ['last week', '2026-11-09T00:00:00Z/2026-11-16T00:00:00Z'],
  ['last month', '2026-10-01T00:00:00Z/2026-11-01T00:00:00Z'],
  ['last quarter', '2026-07-01T00:00:00Z/2026-10-01T00:00:00Z'],
  ['last year', '2025-01-01T00:00:00Z/2026-01-01T00:00:00Z'],
  ['since 2026-11-01', '2026-11-01T00:00:00Z/2026-11-20T09:30:00Z'],
  ['since "2026-11-20 08:00"', '2026-11-20T08:00:00Z/2026-11-20T09:30:00Z'],
  ['since 1900-01-01', '1970-01-12T00:00:00Z/2026-11-20T09:30:00Z'],
  ['this week', '2026-11-16T00:00:00Z/2026-11-20T09:30:00Z'],
  ['this month', '2026-11-01T00:00:00Z/2026-11-20T09:30:00Z'],
  ['this quarter', '2026-10-01T00:00:00Z/2026-11-20T09:30:00Z'],
  ['this year', '2026-01-01T00:00:00Z/2026-11-20T09:30:00Z'],
])('%s is %s', (stage, range) => {
  expect(rangeOf(stage, FRIDAY)).toBe(range);
});

describe('calendar ranges', () => {
  test.each([
    ['today, ahead of UTC', 'today', FRIDAY, 'Pacific/Kiritimati', '2026-11-19T10:00:00Z/2026-11-20T09:30:00Z'],
    ['today, behind UTC', 'today', FRIDAY, 'Pacific/Pago_Pago', '2026-11-19T11:00:00Z/2026-11-20T09:30:00Z'],
    [
      'the day of 25 hours',
      'yesterday',
      '2026-10-26T12:00:00Z',
      'Europe/Berlin',
      '2026-10-24T22:00:00Z/2026-10-25T23:00:00Z',
    ],
    [
      'the day of 23 hours',
      'yesterday',
      '2026-03-30T12:00:00Z',
      'Europe/Berlin',
      '2026-03-28T23:00:00Z/2026-03-29T22:00:00Z',
    ],
    [
      'a week that starts in the year before',
      'this week',
      '2027-01-02T12:00:00Z',
      'Europe/Berlin',
      '2026-12-27T23:00:00Z/2027-01-02T12:00:00Z',
    ],
    [
      'Monday belongs to its week',
      'this week',
      '2026-11-16T00:00:00Z',
      'UTC',
      '2026-11-16T00:00:00Z/2026-11-16T00:00:00Z',
    ],
    [
      'Sunday belongs to the week before',
      'this week',
      '2026-11-22T23:59:59Z',
      'UTC',
      '2026-11-16T00:00:00Z/2026-11-22T23:59:59Z',
    ],
    [
      'new year in another time zone',
      'this year',
      '2025-12-31T12:00:00Z',
      'Pacific/Tongatapu',
      '2025-12-31T11:00:00Z/2025-12-31T12:00:00Z',
    ],
    ['dates', 'from 2026-03-29 to 2026-03-30', FRIDAY, 'Europe/Berlin', '2026-03-28T23:00:00Z/2026-03-29T22:00:00Z'],
  ])('use the time zone: %s', (_, stage, now, timezone, range) => {
    expect(rangeOf(stage, now, timezone)).toBe(range);
  });

  test('rolling ranges ignore the time zone', () => {
    expect(rangeOf('last 1d', '2026-10-25T12:00:00Z', 'Europe/Berlin')).toBe(
      '2026-10-24T12:00:00Z/2026-10-25T12:00:00Z',
    );
  });
});

test.each([
  ['2026-03-31T10:00:00Z', 1, '2026-02-28T10:00:00.000Z'],
  ['2028-03-31T10:00:00Z', 1, '2028-02-29T10:00:00.000Z'],
  ['2028-02-29T10:00:00Z', 12, '2027-02-28T10:00:00.000Z'],
  ['2026-01-15T00:00:00Z', 1, '2025-12-15T00:00:00.000Z'],
  ['2026-01-31T00:00:00Z', 14, '2024-11-30T00:00:00.000Z'],
])('%s less %i months is %s', (from, months, expected) => {
  expect(new Date(subtractMonths(Date.parse(from), months)).toISOString()).toBe(expected);
});

describe('tryParseMoment', () => {
  test.each([
    ['2026-01-31', '2026-01-31T00:00:00.000Z'],
    ['2026-01-31T09:30', '2026-01-31T09:30:00.000Z'],
    ['2026-01-31 09:30:15.1239', '2026-01-31T09:30:15.123Z'],
    ['2026-01-31T09:30:00-0530', '2026-01-31T15:00:00.000Z'],
    ['2026-01-31t09:30:00z', '2026-01-31T09:30:00.000Z'],
    ['2028-02-29', '2028-02-29T00:00:00.000Z'],
    ['2000-02-29', '2000-02-29T00:00:00.000Z'],
    ['1900-12-31', '1900-12-31T00:00:00.000Z'],
    ['2299-12-31T23:59:59', '2299-12-31T23:59:59.000Z'],
  ])('parses %s as %s', (text, expected) => {
    expect(new Date(tryParseMoment(text, 'UTC') ?? Number.NaN).toISOString()).toBe(expected);
  });

  test.each([
    '2026-02-29',
    '2100-02-29',
    '2028-02-30',
    ...['01', '03', '05', '07', '08', '10', '12'].map((month) => `2026-${month}-32`),
    ...['04', '06', '09', '11'].map((month) => `2026-${month}-31`),
    '2026-13-01',
    '2026-00-10',
    '2026-1-5',
    '2026-01-31T24:00',
    '2026-01-31T10:60',
    '2026-01-31T10:59:60',
    'now',
    '',
    '1899-12-31',
    '2300-01-01',
    '2026-01-31Z',
  ])('rejects %j', (text) => {
    expect(tryParseMoment(text, 'UTC')).toBeUndefined();
  });
});
