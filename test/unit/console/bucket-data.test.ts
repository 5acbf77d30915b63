// Series of charts from the rows of an answer: rows that are missing, numbers of axes, and several
// answers as one.
import { expect, test } from 'vitest';
import {
  isTimed,
  toBucketData,
  toComparable,
  toHistogramData,
  toLifecycleData,
} from '../../../console/src/answer/bucket-data.js';
import { splitColumns } from '../../../console/src/answer/columns.js';
import { day } from '../../../console/src/answer/format.js';
import type { Answer } from '../../../console/src/api/answer.js';

const plain = (text: string): string => text.replaceAll('\u202f', ' ');

const answerOf = (rows: Answer['rows'], columns: readonly string[]): Answer => ({
  ...{ columns, rows, total: rows.length, elapsed_ms: 1, rows_scanned: 1 },
  ...{ period: '2026-03-01T00:00:00Z/2026-03-04T00:00:00Z', mode: 'aggregate', metadata: {} },
});

const dataOf = (answer: Answer, isFromFirst?: boolean) => {
  const { groups, measure } = splitColumns(answer);
  return toBucketData(answer, 'UTC', { time: 'day', groups, measure, ...(isFromFirst && { isFromFirst }) });
};

test.each([
  ['count', 0],
  ['unique_count', 0],
  ['total', 0],
  ['average', null],
])('a group without a row on a day has the %s %s there', (measure, missing) => {
  const rows = [
    { day: '2026-03-03', plan: 'pro', [measure]: 9 },
    { day: '2026-03-02', plan: 'free', [measure]: 4 },
  ];
  const { data, values } = dataOf(answerOf(rows, ['day', 'plan', measure]));
  expect(values).toEqual(['2026-03-01', '2026-03-02', '2026-03-03']);
  expect(data.series.map(({ name, values: of }) => [name, of])).toEqual([
    ['pro', [missing, missing, 9]],
    ['free', [missing, 4, missing]],
  ]);
});

test('an axis from the first row on has no bucket before it', () => {
  const rows = [
    { day: '2026-03-03', plan: 'pro', count: 9 },
    { day: '2026-03-02', plan: 'free', count: 4 },
  ];
  const { data, values } = dataOf(answerOf(rows, ['day', 'plan', 'count']), true);
  expect(values).toEqual(['2026-03-02', '2026-03-03']);
  expect(data.series.map(({ values: of }) => of)).toEqual([
    [0, 9],
    [4, 0],
  ]);
});

test('the numbers of an axis have the form of their column', () => {
  const measures = [
    { name: 'rate', kind: 'share' },
    { name: 'avg_duration', kind: 'seconds' },
    { name: 'count', kind: 'number' },
  ] as const;
  const shown = measures.map((measure) => {
    const answer = answerOf([{ day: '2026-03-01', [measure.name]: 1 }], ['day', measure.name]);
    const { short, long } = toBucketData(answer, 'UTC', { time: 'day', groups: [], measure }).data;
    return [short(0.5, 1, 1), short(7200, 20_000, 3600), long(0.5)].map(plain);
  });
  expect(shown).toEqual([
    ['50.0 %', '720,000.0 %', '50.0 %'],
    ['0.5 s', '2 h', '0.5 s'],
    ['0.5', '7.2 k', '0.5'],
  ]);
});

test('an annotation is at its minute', () => {
  const rows = ['2026-03-02T20:30:00Z', '2026-03-02T20:31:00Z', '2026-03-02T20:32:00Z'].map((minute) => ({
    minute,
    count: 1,
  }));
  const annotations = [{ at: '2026-03-02T20:31:40Z', time: '2026-03-02T20:31:40Z', text: 'Release' }];
  const answer = { ...answerOf(rows, ['minute', 'count']), metadata: { annotations } };
  const measure = { name: 'count', kind: 'number' } as const;
  const { data } = toBucketData(answer, 'Asia/Tehran', { time: 'minute', groups: [], measure });
  expect(data.annotations).toEqual([{ bucket: 1, when: '3 Mar 2026, 00:01', text: 'Release' }]);
});

test('isTimed() is true for one measure by time only', () => {
  const of = (columns: readonly string[]) => isTimed(answerOf([], columns));
  expect([of(['day', 'count']), of(['day', 'plan', 'count']), of(['plan', 'count']), of(['count'])]).toEqual([
    ...[true, false, false, false],
  ]);
});

test('several answers as one count when each of them counts', () => {
  const counted = answerOf([{ day: '2026-03-01', count: 1 }], ['day', 'count']);
  const averaged = answerOf([{ day: '2026-03-01', average: null }], ['day', 'average']);
  expect(toComparable([counted, counted], ['a', 'b']).columns).toEqual(['day', 'query', 'count']);
  const { columns, rows } = toComparable([counted, averaged], ['a', 'b']);
  expect([columns, rows]).toEqual([
    ['day', 'query', 'value'],
    [
      { day: '2026-03-01', query: 'a', value: 1 },
      { day: '2026-03-01', query: 'b', value: null },
    ],
  ]);
});

test('day() names the weekday on request', () => {
  expect([day('2026-03-01'), day('2026-03-01', true)]).toEqual(['1 Mar 2026', 'Sun, 1 Mar 2026']);
});

test('toLifecycleData() has the people of each status in each period, in the order of time', () => {
  const rows = [
    { period: '2026-03-02', status: 'New', users: 7 },
    { period: '2026-03-02', status: 'Dormant', users: -3 },
    { period: '2026-03-01', status: 'New', users: 2 },
    { period: '2026-03-01', status: 'Returning', users: 4 },
  ];
  const answer = { ...answerOf(rows, ['period', 'status', 'users']), mode: 'lifecycle' } as const;
  const { buckets, series } = toLifecycleData(answer, 'UTC');
  expect(buckets.map(({ long }) => long)).toEqual(['1 Mar 2026', '2 Mar 2026']);
  expect(series.map(({ name, values }) => [name, values])).toEqual([
    ['New', [2, 7]],
    ['Returning', [4, 0]],
    ['Resurrected', [0, 0]],
    ['Dormant', [0, -3]],
  ]);
});

test('toHistogramData() has zero for a number of days that no person has, unless rows are left out', () => {
  const rows = [
    { active_days: 1, users: 5 },
    { active_days: 4, users: 2 },
  ];
  const answer = { ...answerOf(rows, ['active_days', 'users']), mode: 'stickiness' } as const;
  const { buckets, series } = toHistogramData(answer);
  expect(buckets.map(({ long }, index) => [long, series[0]?.values[index]])).toEqual([
    ['1 active day', 5],
    ['2 active days', 0],
    ['3 active days', 0],
    ['4 active days', 2],
  ]);
  expect(toHistogramData({ ...answer, total: 3 }).series[0]?.values).toEqual([5, 2]);
});
