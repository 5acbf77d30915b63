// Lists the time buckets of a range, as ClickHouse forms them in a time zone (buckets.ts).
import type { TimeRange } from '../analyze/resolved.js';
import type { Granularity } from '../fields.js';
import { startOfHour, startOfNextHour } from './irregular-hours.js';
import { startOfDay, startOfUnit } from './range.js';
import { instantOf, wallTimeAt } from './timezone.js';

/** Granularities whose buckets follow each other, unlike weekdays and hours of the day. */
export type Period = Exclude<Granularity, 'weekday' | 'hour_of_day'>;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** At least; a month may be longer. */
const LENGTH_MS: Readonly<Record<Period, number>> = {
  minute: 60_000,
  hour: HOUR_MS,
  day: DAY_MS,
  week: 7 * DAY_MS,
  month: 28 * DAY_MS,
  quarter: 90 * DAY_MS,
  year: 365 * DAY_MS,
};

export const PERIODS_OF_TIME = Object.keys(LENGTH_MS) as readonly Period[];

/** About how many buckets the range has, without listing them. */
export const estimateBuckets = ({ fromMs, toMs }: TimeRange, period: Period): number =>
  (toMs - fromMs) / LENGTH_MS[period];

/** Start of the bucket that contains the instant. */
export function startOfBucket(instantMs: number, period: Period, zone: string): number {
  if (period === 'day') return startOfDay(instantMs, zone);
  if (period === 'hour') return startOfHour(instantMs, zone);
  if (period !== 'minute') return startOfUnit(instantMs, period, zone);
  return Math.floor(instantMs / LENGTH_MS.minute) * LENGTH_MS.minute;
}

const MONTHS = { month: 1, quarter: 3, year: 12 } as const;

function startOfNext(startMs: number, period: Period, zone: string): number {
  if (period === 'minute') return startMs + LENGTH_MS.minute;
  if (period === 'hour') return startOfNextHour(startMs, zone);
  if (period === 'day' || period === 'week') return startOfDay(startMs, zone, period === 'day' ? 1 : 7);
  const { year, month } = wallTimeAt(startMs, zone);
  return instantOf({ year, month: month + MONTHS[period], day: 1 }, zone);
}

/** The buckets that overlap the range, whole; an empty range has one. */
export function listBuckets({ fromMs, toMs }: TimeRange, period: Period, zone: string): TimeRange[] {
  const buckets: TimeRange[] = [];
  let startMs = startOfBucket(fromMs, period, zone);
  do {
    const nextMs = startOfNext(startMs, period, zone);
    buckets.push({ fromMs: startMs, toMs: nextMs });
    startMs = nextMs;
  } while (startMs < toMs);
  return buckets;
}
