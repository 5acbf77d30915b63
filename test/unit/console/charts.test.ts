// Data of charts: empty buckets of numbers, scales, ticks, and averages of cohorts.
import { expect, test } from 'vitest';
import { toBucketData, toEdgeData, toHistogramData } from '../../../console/src/answer/bucket-data.js';
import { bucketsOfPeriod } from '../../../console/src/answer/buckets.js';
import { splitColumns } from '../../../console/src/answer/columns.js';
import type { Answer, Row } from '../../../console/src/api/answer.js';
import { averageAt, cohortsOf, incompleteIn } from '../../../console/src/charts/cohorts.js';
import { ticksOf, valueDomain } from '../../../console/src/charts/series.js';

const answerOf = (rows: readonly Row[]): Answer => ({
  columns: Object.keys(rows[0] ?? {}),
  rows,
  total: rows.length,
  elapsed_ms: 1,
  rows_scanned: 1,
  period: '2026-11-01T00:00:00.000Z/2026-11-20T12:00:00.000Z',
  mode: 'aggregate',
  metadata: {},
});

test.each([
  [20, [0, 80], ['0', '20', '40', '60', '80']],
  [0.1, [0.3, 0.6], ['0.3', '0.4', '0.5', '0.6']],
  [10, [-10, 10], ['-10', '0', '10']],
  [7, [0, 20], ['0', '20']],
  [1, [0, 300, 302], ['0', '299 empty groups, 1 – 299', '300', '1 empty group, 301 – 301', '302']],
])('the empty buckets %s wide between the edges %j are drawn', (width, edges, expected) => {
  const rows = edges.map((bucket) => ({ bucket, count: 1 }));
  const answer = { ...answerOf(rows), metadata: { bucket_width: width } };
  const { buckets, series } = toEdgeData(answer, { name: 'bucket', kind: 'edge' }, { name: 'count', kind: 'number' });
  expect(buckets.map(({ long }) => long)).toEqual(expected);
  expect(series[0]?.values.filter((value) => value !== null)).toEqual(edges.map(() => 1));
});

test.each([
  [
    [5, 8],
    [0, 8],
  ],
  [
    [-1006, -1000],
    [-1006, 0],
  ],
  [
    [-3, 4],
    [-3, 4],
  ],
  [
    [0, 0],
    [0, 1],
  ],
  [[], [0, 1]],
  [[1e18], [0, 1e18]],
])('a value axis of %j contains zero: %j', (values, domain) => {
  expect(valueDomain(values)).toEqual(domain);
});

test.each([
  ['day', 'UTC', '2026-11-01T10:00:00Z/2026-11-05T10:00:00Z', ['2026-11-03'], '2026-11-01 2026-11-05 5'],
  ['day', 'UTC', '2026-11-01T00:00:00Z/2026-11-05T00:00:00Z', ['2026-11-02', '2026-11-04'], '2026-11-01 2026-11-04 4'],
  ['week', 'Asia/Tehran', '2026-10-24T20:30:00Z/2026-11-22T20:30:00Z', ['2026-11-02'], '2026-10-19 2026-11-16 5'],
  ['month', 'UTC', '2025-12-31T00:00:00Z/2026-03-01T00:00:01Z', ['2026-02-01'], '2025-12-01 2026-03-01 4'],
  ['quarter', 'UTC', '2025-12-31T00:00:00Z/2026-04-01T00:00:00Z', ['2026-01-01'], '2025-10-01 2026-01-01 2'],
  // A day of 25 hours.
  [
    ...['hour', 'Europe/Berlin', '2026-10-24T22:00:00Z/2026-10-25T23:00:00Z'],
    ...[['2026-10-25T01:00:00Z'], '2026-10-24T22:00:00Z 2026-10-25T22:00:00Z 25'],
  ],
  // Rows that are older than the period, such as those by the day of the first event.
  ['day', 'UTC', '2026-11-04T00:00:00Z/2026-11-05T00:00:00Z', ['2026-11-01'], '2026-11-01 2026-11-04 4'],
  ['year', 'UTC', '2026-11-04T00:00:00Z/2026-11-05T00:00:00Z', [], '  0'],
] as const)('the axis of each %s in %s of %s', (unit, timeZone, period, values, expected) => {
  const all = bucketsOfPeriod(unit, values, { period, timeZone });
  expect([all[0], all.at(-1), all.length].join(' ')).toBe(expected);
});

test('the two hours that a clock shows alike when summer time ends have their offset', () => {
  const hours = ['2026-10-24T23:00:00Z', '2026-10-25T00:00:00Z', '2026-10-25T01:00:00Z', '2026-10-25T02:00:00Z'];
  const answer = {
    ...answerOf(hours.map((hour) => ({ hour, count: 1 }))),
    period: '2026-10-24T22:00:00Z/2026-10-25T23:00:00Z',
  };
  const { groups, measure } = splitColumns(answer);
  const { data } = toBucketData(answer, 'Europe/Berlin', { time: 'hour', groups, measure });
  expect(data.buckets.map(({ short }) => short)).toEqual(['01:00', '02:00 GMT+2', '02:00 GMT+1', '03:00']);
  expect(data.buckets[2]?.long).toBe('25 Oct 2026, 02:00 GMT+1');
});

test.each([
  ['signup | last 5d | count by day, plan', [0, 3, 0, 4, 0]],
  ['signup | last 5d | count by day, plan | top 5 other', [0, 3, 0, 4, 0]],
  ['signup | last 5d | count by day, plan | top 5', [3, 4]],
  ['signup | last 5d | count by day, plan | sort count | limit 5', [3, 4]],
  ['signup | last 5d | count by day, plan | where count > 2', [3, 4]],
])('days without rows of any group are on the axis, unless rows were left out: %s', (q, expected) => {
  const rows = [
    { day: '2026-11-02', plan: 'pro', count: 3 },
    { day: '2026-11-04', plan: 'pro', count: 4 },
  ];
  const answer = { ...answerOf(rows), q, period: '2026-11-01T00:00:00Z/2026-11-06T00:00:00Z' };
  const { groups, measure } = splitColumns(answer);
  const { data, values } = toBucketData(answer, 'UTC', { time: 'day', groups, measure });
  expect(data.series[0]?.values).toEqual(expected);
  expect(values).toHaveLength(expected.length);
});

test('numbers of active days that no person has are between the others', () => {
  const rows = [
    { active_days: 12, users: 3 },
    { active_days: 14, users: 2 },
  ];
  const valuesOf = (answer: Answer) => toHistogramData(answer).series[0]?.values;
  expect(valuesOf(answerOf(rows))).toEqual([3, 0, 2]);
  expect(valuesOf({ ...answerOf(rows), total: 9 })).toEqual([3, 2]);
  expect(valuesOf(answerOf([]))).toEqual([]);
});

test('ticks of whole numbers are whole', () => {
  const of = (...values: (number | null)[]) => ({ series: [{ name: 'count', values }] });
  expect(ticksOf(of(0, 1, null), [0, 0.5, 1])).toEqual([0, 1]);
  expect(ticksOf(of(0.3, 1), [0, 0.5, 1])).toEqual([0, 0.5, 1]);
});

test('the average of a retention counts every person once, without periods that are not over', () => {
  const row = (cohort: string, size: number, period: number, users: number) => ({
    ...{ cohort, cohort_size: size, period, users, rate: users / size },
  });
  const rows = [row('2026-11-02', 90, 1, 9), row('2026-11-09', 10, 1, 9), row('2026-11-16', 50, 1, 50)];
  const answer = {
    ...answerOf(rows),
    metadata: { incomplete: [{ cohort: '2026-11-16', period: 1 }] },
  };
  expect(averageAt(cohortsOf(answer), 1, incompleteIn(answer))).toEqual({ size: 100, users: 18 });
  expect(averageAt(cohortsOf(answer), 2, incompleteIn(answer))).toBeUndefined();
});
