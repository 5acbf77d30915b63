// Converts the rows of an answer to chart series over its time buckets: one series per group. A
// missing row is zero for counts and a gap for averages. Rows without a time are only in the table.
import { group } from 'd3-array';
import type { Answer, Cell, Row } from '../api/answer.js';
import type { Annotation, Bucket, BucketData, Series } from '../charts/series.js';
import { texts } from '../texts.js';
import {
  bucketsOfPeriod,
  type CycleUnit,
  cycleLabel,
  endPartOf,
  isLongAxis,
  longLabel,
  partOf,
  shortLabel,
  type TimeUnit,
  timeUnitOf,
  unitBetween,
} from './buckets.js';
import { numberIn, previousOf, type ShownColumn, showCell, showNumber, splitColumns } from './columns.js';
import { compact, day, exact, localDate, minute, percent, shortDuration } from './format.js';

/** Series that are drawn; the others are in the table. */
const SERIES_MAX = 8;
/** Measures that are zero where there are no events. */
const COUNTED: readonly string[] = ['count', 'unique_count', 'total'];

const numbersOf = ({ kind }: ShownColumn): Pick<BucketData, 'short' | 'long'> => ({
  short: (value, most, step) =>
    kind === 'share' ? percent(value) : kind === 'seconds' ? shortDuration(value, step) : compact(value, most),
  long: (value) => showNumber(kind, value),
});

function bucketsOf(answer: Answer, timezone: string, unit: TimeUnit, values: readonly string[]): Bucket[] {
  const isLong = isLongAxis(unit, values);
  return values.map((value) => ({
    short: shortLabel(unit, value, timezone, isLong),
    long: longLabel(unit, value, timezone),
    part: partOf(unit, value, { period: answer.period, timeZone: timezone }),
  }));
}

/** Each at the last bucket that begins before it; none before the first bucket. */
function annotationsOf(
  { metadata }: Answer,
  timezone: string,
  { unit, values }: { readonly unit: TimeUnit; readonly values: readonly string[] },
): Annotation[] {
  const isOfClock = unit === 'minute' || unit === 'hour';
  return (metadata?.annotations ?? []).flatMap(({ at, time, text }) => {
    const key = isOfClock ? Date.parse(time) : Date.parse(localDate(time, timezone));
    const bucket = values.findLastIndex((value) => Date.parse(value) <= key);
    const when = at.length === DATE_LENGTH ? day(at) : minute(time, timezone);
    return bucket < 0 ? [] : [{ bucket, when, text }];
  });
}

const DATE_LENGTH = '2026-11-01'.length;

/** A series while its values are collected. */
interface Line extends Series {
  readonly values: (number | null)[];
  readonly previous: (number | null)[] | undefined;
}

interface Roles {
  /** Whether the axis begins with the first row, instead of the period. */
  readonly isFromFirst?: boolean;
  readonly time: string;
  readonly groups: readonly ShownColumn[];
  readonly measure: ShownColumn;
}

/** A stage that leaves groups out: a missing row is then no zero. */
const SHORTENED = /\|\s*limit\s|\|\s*top\s+\d+\s*(?:\||$)|\bby\b[^|]*\|(?:.*\|)?\s*where\b/is;

const hasAllRows = ({ q = '', rows, total }: Answer): boolean => rows.length === total && !SHORTENED.test(q);

export function toBucketData(
  answer: Answer,
  timezone: string,
  { time, groups, measure, isFromFirst = false }: Roles,
): { readonly data: BucketData; readonly hidden: number; readonly values: readonly string[] } {
  const unit = timeUnitOf(time) ?? 'day';
  const rows = answer.rows.filter((row) => (row[time] ?? null) !== null);
  const others = groups.filter(({ name }) => name !== time);
  const known = [...new Set(rows.map((row) => String(row[time])))].sort();
  // By time alone, the service answers with every bucket.
  const isFilled = others.length > 0 && hasAllRows(answer);
  const all = isFilled ? bucketsOfPeriod(unit, known, { period: answer.period, timeZone: timezone }) : known;
  const values = isFromFirst ? all.slice(all.indexOf(known[0] ?? '')) : all;
  const indexes = new Map(values.map((value, index) => [value, index]));
  // By their cells: a missing value and the text "(none)" are shown alike.
  const keyOf = (row: Row): string => JSON.stringify(others.map(({ name }) => row[name] ?? null));
  const bySize = [...group(rows, keyOf).values()]
    .map((own) => ({ own, size: own.reduce((sum, row) => sum + Math.abs(numberIn(row, measure.name) ?? 0), 0) }))
    .sort((a, b) => b.size - a.size);
  const previous = previousOf(answer, measure.name);
  // A group without a row in a bucket had no events there: nothing for averages, zero for what is
  // counted.
  const missing = COUNTED.includes(measure.name) ? 0 : null;
  // Only of the series that are drawn: thousands of groups may have thousands of buckets.
  const lines = bySize.slice(0, SERIES_MAX).map(({ own: [first = {}, ...more] }): Line => {
    const line = {
      name: others.map((column) => showCell(column, first[column.name], timezone)).join(' · ') || measure.name,
      cells: others.map((column) => [column.name, first[column.name] ?? null] as const),
      values: Array.from(values, (): number | null => missing),
      previous: previous === undefined ? undefined : Array.from(values, (): number | null => null),
    };
    for (const row of [first, ...more]) {
      const index = indexes.get(String(row[time])) ?? 0;
      line.values[index] = numberIn(row, measure.name);
      if (previous !== undefined && line.previous) line.previous[index] = numberIn(row, previous);
    }
    return line;
  });
  return {
    data: {
      buckets: bucketsOf(answer, timezone, unit, values),
      annotations: annotationsOf(answer, timezone, { unit, values }),
      series: withNames(lines),
      ...numbersOf(measure),
    },
    hidden: Math.max(0, bySize.length - SERIES_MAX),
    values,
  };
}

/** Tells equal labels of groups apart, such as a missing value and the text "(none)". */
function withNames(lines: readonly Line[]): Line[] {
  const isTaken = (name: string): boolean => lines.filter((line) => line.name === name).length > 1;
  return lines.map((line) => {
    if (!isTaken(line.name)) return line;
    const cells = line.cells?.map(([, cell]) => (cell === null ? texts.answer.none : JSON.stringify(cell))) ?? [];
    return { ...line, name: cells.join(' · ') };
  });
}

/** Whether the rows are one measure by time, and by nothing else. */
export function isTimed(answer: Answer): boolean {
  const { groups } = splitColumns(answer);
  return groups.length === 1 && groups[0] !== undefined && timeUnitOf(groups[0].name) !== undefined;
}

const SERIES = 'query';

/** Several answers by the same time as one, with the name of each in a column. */
export function toComparable(answers: readonly Answer[], names: readonly string[]): Answer {
  const parts = answers.map((answer) => ({ answer, ...splitColumns(answer) }));
  const time = parts[0]?.groups[0]?.name ?? 'day';
  const isCounted = parts.every(({ measure }) => COUNTED.includes(measure.name));
  const value = isCounted ? 'count' : 'value';
  const rows = parts.flatMap(({ answer, groups, measure }, index) =>
    answer.rows.map((row) => ({
      [time]: row[groups[0]?.name ?? time] ?? null,
      [SERIES]: names[index] ?? String(index),
      [value]: row[measure.name] ?? null,
    })),
  );
  const [first] = answers;
  if (first === undefined) throw new Error('there is no answer');
  const total = answers.reduce((sum, answer) => sum + answer.total, 0);
  return { ...first, mode: 'aggregate', columns: [time, SERIES, value], rows, total, metadata: {} };
}

const plain = (label: string): Bucket => ({ short: label, long: label, part: undefined });

export const toCycleData = ({ rows }: Answer, unit: CycleUnit, measure: ShownColumn): BucketData => ({
  buckets: rows.map((row) => plain(cycleLabel(unit, numberIn(row, unit) ?? 0))),
  series: [{ name: measure.name, values: rows.map((row) => numberIn(row, measure.name)) }],
  ...numbersOf(measure),
});

/** More buckets are too narrow: then one stands for all empty ones in a row. */
export const EDGES_MAX = 200;

/**
 * In the order of the edges, whatever sorts the answer, with the empty buckets between them; the
 * group without a number is last.
 */
export function toEdgeData(answer: Answer, { name, kind }: ShownColumn, measure: ShownColumn): BucketData {
  const width = name === 'bucket' ? answer.metadata?.bucket_width : undefined;
  const edgeOf = (row: Row): number => numberIn(row, name) ?? Number.POSITIVE_INFINITY;
  const sorted = [...answer.rows].sort((a, b) => (edgeOf(a) < edgeOf(b) ? -1 : 1));
  const gaps = sorted.map((row, index) => emptyBetween(sorted[index - 1]?.[name], row[name], width));
  const isWhole = sorted.length + gaps.reduce((sum, gap) => sum + gap, 0) <= EDGES_MAX;
  const emptyBefore = (edge: number, gap: number): Bucket[] => {
    if (gap === 0) return [];
    const label = (place: number): string => exact(edge - (gap - place) * (width ?? 0));
    if (isWhole) return Array.from({ length: gap }, (_, place) => plain(label(place)));
    return [{ ...plain('…'), long: `${texts.answer.emptyGroups(gap)}, ${label(0)} – ${label(gap - 1)}` }];
  };
  const filled = sorted.flatMap((row, index) => [
    ...emptyBefore(edgeOf(row), gaps[index] ?? 0).map((bucket) => ({ bucket, value: null })),
    { bucket: plain(showCell({ name, kind }, row[name], 'UTC')), value: numberIn(row, measure.name) },
  ]);
  return {
    buckets: filled.map(({ bucket }) => bucket),
    series: [{ name: measure.name, values: filled.map(({ value }) => value) }],
    ...numbersOf(measure),
  };
}

/** Number of buckets between two; 0 when the edges are not as far apart as whole buckets. */
function emptyBetween(before: Cell | undefined, edge: Cell | undefined, width: number | undefined): number {
  if (typeof before !== 'number' || typeof edge !== 'number' || width === undefined) return 0;
  const steps = (edge - before) / width;
  return Math.abs(steps - Math.round(steps)) < 1e-6 ? Math.max(0, Math.round(steps) - 1) : 0;
}

export function toHistogramData(answer: Answer): BucketData {
  const users = new Map(answer.rows.map((row) => [numberIn(row, 'active_days') ?? 0, numberIn(row, 'users')]));
  const known = [...users.keys()];
  const least = Math.min(...known);
  // A number of days without a row is one that no person has.
  const days = hasAllRows(answer)
    ? Array.from({ length: Math.max(...known) - least + 1 }, (_, index) => least + index)
    : known;
  return {
    buckets: days.map((count) => ({
      ...plain(String(count)),
      long: `${count} active ${count === 1 ? 'day' : 'days'}`,
    })),
    series: [{ name: 'users', values: days.map((count) => users.get(count) ?? 0) }],
    short: compact,
    long: exact,
  };
}

const STATUSES = ['New', 'Returning', 'Resurrected', 'Dormant'];

export function toLifecycleData(answer: Answer, timezone: string): BucketData {
  const periods = [...new Set(answer.rows.map((row) => String(row.period)))].sort();
  const unit = unitBetween(periods);
  const isLong = isLongAxis(unit, periods);
  const sum = (status: string, period: string): number =>
    answer.rows
      .filter((row) => row.status === status && row.period === period)
      .reduce((total, row) => total + (numberIn(row, 'users') ?? 0), 0);
  return {
    buckets: periods.map((date) => ({
      short: shortLabel('day', date, 'UTC', isLong),
      long: day(date),
      part: endPartOf(unit, date, { period: answer.period, timeZone: timezone }),
    })),
    annotations: annotationsOf(answer, timezone, { unit, values: periods }),
    series: STATUSES.map((name) => ({ name, values: periods.map((period) => sum(name, period)) })),
    short: compact,
    long: exact,
  };
}

export function toDayData(answer: Answer, timezone: string, column: ShownColumn): BucketData {
  const previous = previousOf(answer, column.name);
  const valuesOf = (name: string) => answer.rows.map((row: Row) => numberIn(row, name));
  return {
    buckets: bucketsOf(
      answer,
      timezone,
      'day',
      answer.rows.map((row) => String(row.day)),
    ),
    series: [
      {
        name: column.name,
        values: valuesOf(column.name),
        previous: previous === undefined ? undefined : valuesOf(previous),
      },
    ],
    ...numbersOf(column),
  };
}

/** The share of attempts that reached the last step, by the bucket in which they began. */
export function toFunnelData(
  answer: Answer,
  timezone: string,
  time: string,
): { readonly data: BucketData; readonly values: readonly string[] } {
  const steps = answer.rows.map((row) => numberIn(row, 'step') ?? 0);
  const last = steps.reduce((most, step) => Math.max(most, step), 0);
  const rows = answer.rows.filter((row) => row.step === last);
  const groups = answer.columns
    .slice(0, answer.columns.indexOf('step'))
    .map((name): ShownColumn => ({ name, kind: name === time ? 'bucket' : 'text' }));
  const measure: ShownColumn = { name: 'rate', kind: 'share' };
  const asked = { ...answer, rows, total: answer.total - answer.rows.length + rows.length };
  const { data, values } = toBucketData(asked, timezone, { time, groups, measure });
  const from = answer.metadata.incomplete_from;
  const buckets = data.buckets.map((bucket, index) => {
    const isOver = from === undefined || (values[index] ?? '') < from;
    return { ...bucket, part: isOver ? undefined : ('so far' as const) };
  });
  return { data: { ...data, buckets }, values };
}
