// Plans time buckets in a time zone, and splits a range into the part that the hourly projection
// can answer and the rest.
import type { TimeRange } from '../analyze/resolved.js';
import type { Granularity } from '../fields.js';
import {
  allOf,
  type Constant,
  constant,
  type Expression,
  equals,
  infix,
  instant,
  integer,
  textValue,
} from '../plan/expressions.js';
import { fn } from '../plan/functions.js';
import type { ColumnType, Fill, FillStep } from '../plan/plan.js';
import { startOfBucket } from './bucket-list.js';
import { type IrregularChange, irregularChanges, skippedDays } from './irregular-hours.js';
import { EARLIEST_MS } from './range.js';
import { offsetAt } from './timezone.js';

interface BucketKind {
  readonly of: (time: Expression, timezone?: Expression) => Expression;
  readonly type: ColumnType;
  /** The distance of two buckets, or the range of recurring bucket numbers; `to` is exclusive. */
  readonly fill: FillStep | { readonly from: Constant; readonly to: Constant };
}

/** Weekdays are numbered as in ISO 8601: 1 is Monday. */
const BUCKETS: Readonly<Record<Granularity, BucketKind>> = {
  minute: { of: fn.toStartOfMinute, type: 'time', fill: 'MINUTE' },
  hour: { of: fn.toStartOfHour, type: 'time', fill: 'HOUR' },
  day: { of: fn.toDate, type: 'date', fill: 'DAY' },
  week: { of: fn.toMonday, type: 'date', fill: 'WEEK' },
  month: { of: fn.toStartOfMonth, type: 'date', fill: 'MONTH' },
  quarter: { of: fn.toStartOfQuarter, type: 'date', fill: 'QUARTER' },
  year: { of: fn.toStartOfYear, type: 'date', fill: 'YEAR' },
  weekday: {
    of: (time, ...zone) => fn.toDayOfWeek(time, constant(0), ...zone),
    type: 'number',
    fill: { from: 1, to: 8 },
  },
  hour_of_day: { of: fn.toHour, type: 'number', fill: { from: 0, to: 24 } },
};

export interface Bucketing {
  readonly granularity: Granularity;
  readonly timezone: string;
}

/**
 * The bucket that contains `time`: the date or the instant at which it starts, or a number. The
 * hours around irregular clock changes are right for times in the range.
 */
export function bucketOf(time: Expression, { granularity, timezone }: Bucketing, range?: TimeRange): Expression {
  const changes = granularity === 'hour' && range ? irregularChanges(range, timezone) : [];
  if (changes.length > 0) return hourAround(time, changes);
  return BUCKETS[granularity].of(time, ...(timezone === 'UTC' ? [] : [textValue(timezone)]));
}

/** ClickHouse takes a part of the hours behind an irregular change for others. */
function hourAround(time: Expression, changes: readonly IrregularChange[]): Expression {
  const cases = changes.flatMap(({ atMs, hourMs, fullHourMs, before }) => [
    ...[infix('<', time, instant(atMs)), hourIn(time, before)],
    // The same type as the others: without fractions of seconds.
    ...(fullHourMs > atMs ? [infix('<', time, instant(fullHourMs)), fn.toStartOfMinute(instant(hourMs))] : []),
  ]);
  return fn.multiIf(...cases, hourIn(time, changes.at(-1)?.after ?? 0));
}

/** The hour while clocks are ahead of the hours of UTC by this time. */
function hourIn(time: Expression, aheadMs: number): Expression {
  if (aheadMs === 0) return fn.toStartOfHour(time);
  const ahead = integer(aheadMs / 1000);
  return infix('-', fn.toStartOfHour(infix('+', time, ahead)), ahead);
}

export const bucketType = (granularity: Granularity): ColumnType => BUCKETS[granularity].type;

/** Whether whole hours determine the bucket. */
export const isOfWholeHours = (granularity: Granularity): boolean => granularity !== 'minute';

/**
 * The same instant for all of a bucket: its start. With it, the statement of a range that ends now
 * stays the same while its buckets do, and so does a kept answer (query-api/kept-answers.ts).
 */
export function inBucket(ms: number, { granularity, timezone }: Bucketing): number {
  if (granularity === 'weekday' || granularity === 'hour_of_day') return ms;
  const startMs = startOfBucket(ms, granularity, timezone);
  return startMs < EARLIEST_MS ? ms : startMs;
}

/** The bucket of an instant of the range. */
function bucketAt(ms: number, bucketing: Bucketing, range: TimeRange): Expression {
  // Hours around an irregular change are only right within the range.
  const isIrregular = bucketing.granularity === 'hour' && irregularChanges(range, bucketing.timezone).length > 0;
  return bucketOf(instant(isIrregular ? ms : inBucket(ms, bucketing)), bucketing, range);
}

/** An empty range (today at midnight) has one bucket. */
export const lastBucketOf = (range: TimeRange, bucketing: Bucketing): Expression =>
  bucketAt(Math.max(range.fromMs, range.toMs - 1), bucketing, range);

/**
 * Fill range of all buckets in the range; the exclusive end is one second, day or number after the
 * last bucket.
 */
export function fillOf(range: TimeRange, bucketing: Bucketing): Fill {
  const { fill } = BUCKETS[bucketing.granularity];
  if (typeof fill === 'object') return { from: constant(fill.from), to: constant(fill.to) };
  return {
    from: bucketAt(range.fromMs, bucketing, range),
    to: infix('+', lastBucketOf(range, bucketing), constant(1)),
    step: fill,
  };
}

/** The largest number of seconds that divides the distances of all hours around the changes. */
const secondsApart = (changes: readonly IrregularChange[]): number =>
  changes
    .flatMap(({ before, after, hourMs }) => [before, after, hourMs % HOUR_MS])
    .map((ms) => ms / 1000)
    .reduce(greatestDivisor, HOUR_MS / 1000);

const greatestDivisor = (a: number, b: number): number => (b === 0 ? a : greatestDivisor(b, a % b));

/**
 * A fill range with rows that are not of a bucket, and the condition that leaves them out;
 * undefined when the buckets are evenly apart.
 */
export function unevenFillOf(
  range: TimeRange,
  bucketing: Bucketing,
  bucket: Expression,
): { fill: Fill; where: Expression } | undefined {
  const { granularity, timezone } = bucketing;
  const fill = fillOf(range, bucketing);
  const changes = granularity === 'hour' ? irregularChanges(range, timezone) : [];
  if (changes.length > 0) {
    const where = equals(bucketOf(bucket, bucketing, range), bucket);
    return { fill: { ...fill, step: 'SECOND', steps: secondsApart(changes) }, where };
  }
  const skipped = granularity === 'day' ? skippedDays(range, timezone) : [];
  if (skipped.length === 0) return undefined;
  return { fill, where: allOf(skipped.map((day) => infix('!=', bucket, fn.toDate(instant(day))))) };
}

const HOUR_MS = 3_600_000;
const YEARS_MAX = 50;

/** Whether the zone's offset is whole hours in the whole range, and changes at full hours. */
export function hasWholeHours(range: TimeRange, timezone: string): boolean {
  if (timezone === 'UTC') return true;
  if (range.toMs - range.fromMs > YEARS_MAX * 366 * 24 * HOUR_MS) return false;
  return offsetAt(range.fromMs, timezone) % HOUR_MS === 0 && irregularChanges(range, timezone).length === 0;
}

export interface HourSplit {
  /** Whole hours of the range. */
  readonly hours: TimeRange;
  /** Partial hours at both ends. */
  readonly edges: readonly TimeRange[];
}

/** Undefined for ranges of less than a day of whole hours, where reading events is as fast. */
export function splitIntoHours({ fromMs, toMs }: TimeRange): HourSplit | undefined {
  const hours = { fromMs: Math.ceil(fromMs / HOUR_MS) * HOUR_MS, toMs: Math.floor(toMs / HOUR_MS) * HOUR_MS };
  if (hours.toMs - hours.fromMs < 24 * HOUR_MS) return undefined;
  const edges = [
    { fromMs, toMs: hours.fromMs },
    { fromMs: hours.toMs, toMs },
  ].filter((edge) => edge.fromMs < edge.toMs);
  return { hours, edges };
}
