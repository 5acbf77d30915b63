// Windows that end with buckets, and the slices of time that they consist of.
import { describe, expect, test } from 'vitest';
import { listBuckets } from '../../../../src/query/time/bucket-list.js';
import { planWindows } from '../../../../src/query/time/windows.js';

const at = (text: string): number => Date.parse(text);
const shown = (ms: number): string => new Date(ms).toISOString().replace(':00.000Z', '');

describe('listBuckets', () => {
  test.each([
    [
      'day',
      'Europe/Berlin',
      '2026-10-24T10:00Z',
      '2026-10-26T10:00Z',
      ['2026-10-23T22:00', '2026-10-24T22:00', '2026-10-25T23:00'],
    ],
    ['week', 'UTC', '2026-11-10T10:00Z', '2026-11-17T00:00Z', ['2026-11-09T00:00', '2026-11-16T00:00']],
    ['month', 'UTC', '2026-12-31T10:00Z', '2027-01-01T01:00Z', ['2026-12-01T00:00', '2027-01-01T00:00']],
    ['quarter', 'UTC', '2026-11-10T10:00Z', '2027-01-01T00:00Z', ['2026-10-01T00:00']],
    [
      'quarter',
      'Europe/Berlin',
      '2026-11-10T10:00Z',
      '2027-04-01T00:00Z',
      ['2026-09-30T22:00', '2026-12-31T23:00', '2027-03-31T22:00'],
    ],
    ['year', 'Europe/Berlin', '2026-11-10T10:00Z', '2027-01-01T00:00Z', ['2025-12-31T23:00', '2026-12-31T23:00']],
    ['hour', 'Asia/Kolkata', '2026-11-10T10:00Z', '2026-11-10T11:00Z', ['2026-11-10T09:30', '2026-11-10T10:30']],
    // Chile's clocks skip midnight: the day begins at one.
    [
      'day',
      'America/Santiago',
      '2026-09-05T12:00Z',
      '2026-09-07T12:00Z',
      ['2026-09-05T04:00', '2026-09-06T04:00', '2026-09-07T03:00'],
    ],
  ] as const)('%s in %s', (period, zone, from, to, expected) => {
    const buckets = listBuckets({ fromMs: at(from), toMs: at(to) }, period, zone);
    expect(buckets.map(({ fromMs }) => shown(fromMs))).toEqual(expected);
    expect(buckets.slice(1).map(({ fromMs }) => fromMs)).toEqual(buckets.slice(0, -1).map(({ toMs }) => toMs));
  });

  test('returns one bucket for an empty range', () => {
    const now = at('2026-11-10T00:00Z');
    expect(listBuckets({ fromMs: now, toMs: now }, 'day', 'UTC')).toHaveLength(1);
  });
});

describe('planWindows', () => {
  const range = { fromMs: at('2026-11-09T12:00Z'), toMs: at('2026-11-11T12:00Z') };
  const span = { unit: 'day', amount: 2 } as const;
  const windows = planWindows({ range, period: 'day', timezone: 'UTC', spans: [span] });

  test('starts windows whole days before the end of the bucket', () => {
    expect(windows.spans[0]?.starts.map(shown)).toEqual(['2026-11-08T00:00', '2026-11-09T00:00', '2026-11-10T00:00']);
  });

  test('assigns every slice to the windows that contain it', () => {
    const ofSlices = windows.slices.map((slice, index) => {
      const [first = 0, past = 0] = [windows.firstBuckets[index], windows.pastBuckets[index]];
      return [shown(slice), windows.buckets.slice(first - 1, past - 1).map(({ fromMs }) => shown(fromMs).slice(8, 10))];
    });
    expect(ofSlices).toEqual([
      ['2026-11-08T00:00', ['09']],
      ['2026-11-09T00:00', ['09', '10']],
      ['2026-11-09T12:00', ['09', '10']],
      ['2026-11-10T00:00', ['10', '11']],
      ['2026-11-11T00:00', ['11']],
    ]);
    expect(windows.pairs).toBe(8);
  });

  test('counts the whole span back from the day in which the range ends', () => {
    const running = { fromMs: at('2026-10-20T00:00Z'), toMs: at('2026-11-02T12:00Z') };
    const startsOf = (period: 'week' | 'month') =>
      planWindows({ range: running, period, timezone: 'Europe/Berlin', spans: [span] }).spans[0]?.starts.map(shown);
    expect(startsOf('week')).toEqual(['2026-10-23T22:00', '2026-10-30T23:00', '2026-10-31T23:00']);
    expect(startsOf('month')).toEqual(['2026-10-29T23:00', '2026-10-31T23:00']);
  });

  test('counts hours back from the end of the range', () => {
    const hours = { unit: 'millisecond', amount: 5 * 3_600_000 } as const;
    const { spans } = planWindows({ range, period: 'day', timezone: 'UTC', spans: [hours] });
    expect(spans[0]?.starts.map(shown)).toEqual(['2026-11-09T19:00', '2026-11-10T19:00', '2026-11-11T07:00']);
  });

  test('starts windows at midnight beside a day that begins at 01:00', () => {
    const santiago = planWindows({
      range: { fromMs: at('2026-09-05T12:00Z'), toMs: at('2026-09-06T12:00Z') },
      period: 'day',
      timezone: 'America/Santiago',
      spans: [span],
    });
    expect(santiago.spans[0]?.starts.map(shown)).toEqual(['2026-09-04T04:00', '2026-09-05T04:00']);
  });
});
