// Rows of an answer as data of charts: a line of values for each group.
import type { Answer, Row } from '../api/answer.js';
import type { Bucket, BucketData, Series } from '../charts/series.js';
import { type CycleUnit, cycleLabel, longLabel, partOf, shortLabel, type TimeUnit, timeUnitOf } from './buckets.js';
import { numberIn, type ShownColumn, showCell, showNumber } from './columns.js';
import { compact, day, duration, exact, monthAndDay, percent } from './format.js';

/** Series that are drawn; the others are in the table. */
const SERIES_MAX = 8;

const numbersOf = ({ kind }: ShownColumn): Pick<BucketData, 'short' | 'long'> => ({
  short: (value) => (kind === 'share' ? percent(value) : kind === 'seconds' ? duration(value) : compact(value)),
  long: (value) => showNumber(kind, value),
});

const bucketOf = (answer: Answer, timezone: string, unit: TimeUnit, value: string): Bucket => ({
  short: shortLabel(unit, value, timezone),
  long: longLabel(unit, value, timezone),
  part: partOf(unit, value, { period: answer.period, timeZone: timezone }),
});

interface Roles {
  readonly time: string;
  readonly groups: readonly ShownColumn[];
  readonly measure: ShownColumn;
}

export function toBucketData(
  answer: Answer,
  timezone: string,
  { time, groups, measure }: Roles,
): { readonly data: BucketData; readonly hidden: number } {
  const unit = timeUnitOf(time) ?? 'day';
  const values = [...new Set(answer.rows.map((row) => String(row[time])))].sort();
  const indexes = new Map(values.map((value, index) => [value, index]));
  const others = groups.filter(({ name }) => name !== time);
  const series = new Map<string, (number | null)[]>();
  // A group without a row in a bucket had no events there: nothing for averages, zero for what is counted.
  const missing = ['count', 'unique_count', 'total'].includes(measure.name) ? 0 : null;
  for (const row of answer.rows) {
    const name = others.map((column) => showCell(column, row[column.name], timezone)).join(' · ') || measure.name;
    const line = series.get(name) ?? Array.from(values, () => missing);
    line[indexes.get(String(row[time])) ?? 0] = numberIn(row, measure.name);
    series.set(name, line);
  }
  const bySize = [...series]
    .map(([name, line]): Series => ({ name, values: line }))
    .sort((a, b) => sizeOf(b) - sizeOf(a));
  return {
    data: {
      buckets: values.map((value) => bucketOf(answer, timezone, unit, value)),
      series: bySize.slice(0, SERIES_MAX),
      ...numbersOf(measure),
    },
    hidden: Math.max(0, bySize.length - SERIES_MAX),
  };
}

const sizeOf = ({ values }: Series): number => values.reduce((sum: number, value) => sum + Math.abs(value ?? 0), 0);

const plain = (label: string): Bucket => ({ short: label, long: label, part: undefined });

export const toCycleData = ({ rows }: Answer, unit: CycleUnit, measure: ShownColumn): BucketData => ({
  buckets: rows.map((row) => plain(cycleLabel(unit, numberIn(row, unit) ?? 0))),
  series: [{ name: measure.name, values: rows.map((row) => numberIn(row, measure.name)) }],
  ...numbersOf(measure),
});

export function toHistogramData({ rows }: Answer): BucketData {
  const days = rows.map((row) => numberIn(row, 'active_days') ?? 0);
  return {
    buckets: days.map((count) => ({
      ...plain(String(count)),
      long: `${count} active ${count === 1 ? 'day' : 'days'}`,
    })),
    series: [{ name: 'users', values: rows.map((row) => numberIn(row, 'users')) }],
    short: compact,
    long: exact,
  };
}

const STATUSES = ['New', 'Returning', 'Resurrected', 'Dormant'];

export function toLifecycleData(answer: Answer): BucketData {
  const periods = [...new Set(answer.rows.map((row) => String(row.period)))].sort();
  const sum = (status: string, period: string): number =>
    answer.rows
      .filter((row) => row.status === status && row.period === period)
      .reduce((total, row) => total + (numberIn(row, 'users') ?? 0), 0);
  return {
    buckets: periods.map((date) => ({ short: monthAndDay(date), long: day(date), part: undefined })),
    series: STATUSES.map((name) => ({ name, values: periods.map((period) => sum(name, period)) })),
    short: compact,
    long: exact,
  };
}

export const toDayData = (answer: Answer, timezone: string, column: ShownColumn): BucketData => ({
  buckets: answer.rows.map((row) => bucketOf(answer, timezone, 'day', String(row.day))),
  series: [{ name: column.name, values: answer.rows.map((row: Row) => numberIn(row, column.name)) }],
  ...numbersOf(column),
});
