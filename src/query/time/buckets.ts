// Plans time buckets in a time zone, and splits a range into the part that the hourly projection
// can answer and the rest.
import type { TimeRange } from '../analyze/resolved.js';
import type { Granularity } from '../fields.js';
import { type Constant, constant, type Expression, infix, instant, textValue } from '../plan/expressions.js';
import { fn } from '../plan/functions.js';
import type { ColumnType, Fill, FillStep } from '../plan/plan.js';
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

/** The bucket that contains `time`: the date or the instant at which it starts, or a number. */
export const bucketOf = (time: Expression, { granularity, timezone }: Bucketing): Expression =>
  BUCKETS[granularity].of(time, ...(timezone === 'UTC' ? [] : [textValue(timezone)]));

export const bucketType = (granularity: Granularity): ColumnType => BUCKETS[granularity].type;

/** Whether whole hours determine the bucket. */
export const isOfWholeHours = (granularity: Granularity): boolean => granularity !== 'minute';

/** An empty range (today at midnight) has one bucket. */
export const lastBucketOf = ({ fromMs, toMs }: TimeRange, bucketing: Bucketing): Expression =>
  bucketOf(instant(Math.max(fromMs, toMs - 1)), bucketing);

/**
 * Fill range of all buckets in the range; the exclusive end is one second, day or number after the
 * last bucket.
 */
export function fillOf(range: TimeRange, bucketing: Bucketing): Fill {
  const { fill } = BUCKETS[bucketing.granularity];
  if (typeof fill === 'object') return { from: constant(fill.from), to: constant(fill.to) };
  return {
    from: bucketOf(instant(range.fromMs), bucketing),
    to: infix('+', lastBucketOf(range, bucketing), constant(1)),
    step: fill,
  };
}

const HOUR_MS = 3_600_000;
const YEARS_MAX = 50;

/** Whether the zone's offset is whole hours in the whole range. */
export function hasWholeHours({ fromMs, toMs }: TimeRange, timezone: string): boolean {
  if (timezone === 'UTC') return true;
  const firstYear = new Date(fromMs).getUTCFullYear();
  const lastYear = new Date(toMs).getUTCFullYear();
  if (lastYear - firstYear > YEARS_MAX) return false;
  const samples = [fromMs, toMs];
  for (let year = firstYear; year <= lastYear; year++) samples.push(Date.UTC(year, 0, 1), Date.UTC(year, 6, 1));
  return samples.every((instantMs) => offsetAt(instantMs, timezone) % HOUR_MS === 0);
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
