// Moves time buckets from one range to the same position of another.
import type { TimeRange } from '../analyze/resolved.js';
import type { Granularity } from '../fields.js';
import { type Expression, infix, integer } from '../plan/expressions.js';
import { fn } from '../plan/functions.js';
import type { Bucketing } from './buckets.js';
import { startOfHour } from './irregular-hours.js';
import { dayNumber, wallTimeAt } from './timezone.js';

const MINUTE_MS = 60_000;

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

/** Number of the first bucket of a range in the unit of its granularity. */
function startOf({ fromMs }: TimeRange, { granularity, timezone }: Bucketing): number {
  const wall = wallTimeAt(fromMs, timezone);
  const month = wall.year * 12 + wall.month - 1;
  const day = dayNumber(wall);
  switch (granularity) {
    case 'minute':
      return Math.floor(fromMs / MINUTE_MS) * 60;
    case 'hour':
      return startOfHour(fromMs, timezone) / 1000;
    case 'day':
      return day;
    case 'week':
      // Day 0 was a Thursday, three days after a Monday.
      return day - ((((day + 3) % 7) + 7) % 7);
    case 'month':
      return month;
    case 'quarter':
      return month - (month % 3);
    case 'year':
      return wall.year * 12;
    default:
      throw new Error(`${granularity} has no position in a range`);
  }
}

/**
 * Moves a bucket by the distance of the ranges: forwards from the first to the second, or
 * backwards.
 */
export function shiftBetween(
  first: TimeRange,
  second: TimeRange,
  bucketing: Bucketing,
): (bucket: Expression, direction: 1 | -1) => Expression {
  const distance = startOf(second, bucketing) - startOf(first, bucketing);
  return (bucket, direction) => {
    const by = integer(direction * distance);
    return UNIT[bucketing.granularity] === 'months' ? fn.addMonths(bucket, by) : infix('+', bucket, by);
  };
}
