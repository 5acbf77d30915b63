// Time buckets of a time zone, and the part of a range that the hourly projection can answer.
import type { TimeRange } from '../analyze/resolved.js';
import type { Granularity } from '../fields.js';
import { offsetAt } from '../timezone.js';
import { call, constant, infix, instantParameter, textParameter } from './expressions.js';
import type { ColumnType, Expression, Fill } from './plan.js';

const BUCKET_FUNCTION = {
  hour: 'toStartOfHour',
  day: 'toDate',
  week: 'toMonday',
  month: 'toStartOfMonth',
  quarter: 'toStartOfQuarter',
} as const satisfies Record<Granularity, string>;

export interface Bucketing {
  readonly granularity: Granularity;
  readonly timezone: string;
}

/** Start of the bucket that contains `time`: a date, or for hours an instant. */
export function bucketOf(time: Expression, { granularity, timezone }: Bucketing): Expression {
  const name = BUCKET_FUNCTION[granularity];
  return timezone === 'UTC' ? call(name, time) : call(name, time, textParameter(timezone));
}

export const bucketType = (granularity: Granularity): ColumnType => (granularity === 'hour' ? 'time' : 'date');

const STEP = { hour: 'HOUR', day: 'DAY', week: 'WEEK', month: 'MONTH', quarter: 'QUARTER' } as const;

/** Fill range of all buckets in the range; the exclusive end is one second or day after the last start. */
export function fillOf(range: TimeRange, bucketing: Bucketing): Fill {
  // An empty range (today at midnight) has one bucket.
  const last = bucketOf(instantParameter(Math.max(range.fromMs, range.toMs - 1)), bucketing);
  return {
    from: bucketOf(instantParameter(range.fromMs), bucketing),
    to: infix('+', last, constant(1)),
    step: STEP[bucketing.granularity],
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
