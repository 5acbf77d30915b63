// Moves time buckets from one range to the same position of another.
import type { TimeRange } from '../analyze/resolved.js';
import type { Granularity } from '../fields.js';
import { type Expression, infix, instant, integer } from '../plan/expressions.js';
import { fn } from '../plan/functions.js';
import type { Bucketing } from './buckets.js';
import { type EvenBuckets, evenDays, evenHours } from './irregular-hours.js';
import { dayNumber, wallTimeAt } from './timezone.js';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

type Unit = 'seconds' | 'days' | 'months';

const UNIT: Readonly<Partial<Record<Granularity, Unit>>> = {
  minute: 'seconds',
  hour: 'seconds',
  day: 'days',
  week: 'days',
  month: 'months',
  quarter: 'months',
  year: 'months',
};

/**
 * The buckets of a range in the unit of their granularity: one run, or several where a clock change
 * breaks their rhythm.
 */
function runsOf(range: TimeRange, { granularity, timezone }: Bucketing): EvenBuckets[] {
  const { fromMs } = range;
  const wall = wallTimeAt(fromMs, timezone);
  const month = wall.year * 12 + wall.month - 1;
  const day = dayNumber(wall);
  const from = (start: number): EvenBuckets[] => [{ index: 0, start }];
  switch (granularity) {
    case 'minute':
      return from(Math.floor(fromMs / MINUTE_MS) * 60);
    case 'hour':
      return evenHours(range, timezone);
    case 'day':
      return evenDays(range, timezone);
    case 'week':
      // Day 0 was a Thursday, three days after a Monday.
      return from(day - ((((day + 3) % 7) + 7) % 7));
    case 'month':
      return from(month);
    case 'quarter':
      return from(month - (month % 3));
    case 'year':
      return from(wall.year * 12);
    default:
      throw new Error(`${granularity} has no position in a range`);
  }
}

/** Length of an hour or a day, the only buckets of several runs. */
const lengthOf = (granularity: Granularity): number => (granularity === 'hour' ? 3600 : 1);

/** Start of the bucket with this number in its range. */
function startAt(index: number, runs: readonly EvenBuckets[], granularity: Granularity): number {
  const run = runs.findLast((of) => of.index <= index) as EvenBuckets;
  return run.start + (index - run.index) * lengthOf(granularity);
}

/** The hour or the day that starts there. */
const bucketAt = (start: number, granularity: Granularity): Expression =>
  granularity === 'hour' ? instant(start * 1000) : fn.toDate(instant(start * DAY_MS));

/**
 * Moves a bucket to the one at the same position of the other range: forwards from the first to the
 * second, or backwards.
 */
export function shiftBetween(
  first: TimeRange,
  second: TimeRange,
  bucketing: Bucketing,
): (bucket: Expression, direction: 1 | -1) => Expression {
  const { granularity } = bucketing;
  const runs = [runsOf(first, bucketing), runsOf(second, bucketing)] as const;
  const startsAt = (index: number): [first: number, second: number] => [
    startAt(index, runs[0], granularity),
    startAt(index, runs[1], granularity),
  ];
  const indexes = [...new Set(runs.flat().map(({ index }) => index))].sort((a, b) => a - b);
  const distances = indexes.map((index) => {
    const [from, to] = startsAt(index);
    return to - from;
  });
  return (bucket, direction) => {
    const shifts = distances.map((distance) => shiftBy(bucket, direction * distance, granularity));
    // The bucket is of a run when it is before the first bucket of the next.
    const cases = indexes.slice(1).flatMap((index, run) => {
      const start = startsAt(index)[direction === 1 ? 0 : 1];
      return [infix('<', bucket, bucketAt(start, granularity)), shifts[run] as Expression];
    });
    const last = shifts.at(-1) as Expression;
    return cases.length === 0 ? last : fn.multiIf(...cases, last);
  };
}

function shiftBy(bucket: Expression, distance: number, granularity: Granularity): Expression {
  const by = integer(distance);
  return UNIT[granularity] === 'months' ? fn.addMonths(bucket, by) : infix('+', bucket, by);
}
