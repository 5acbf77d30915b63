// The last days of the time buckets of a range, as day numbers: where the windows of `rolling` and
// `cumulative` end.
import type { TimeRange } from '../analyze/resolved.js';
import type { Granularity } from '../fields.js';
import { dateOfDayNumber, dayNumber, wallTimeAt } from './timezone.js';

/** Months from January on, and how many a bucket has. */
const MONTHS: Readonly<Partial<Record<Granularity, number>>> = { month: 1, quarter: 3, year: 12 };

function lastDayOf(day: number, granularity: Granularity): number {
  // Day 0 was a Thursday, three days after a Monday.
  if (granularity === 'week') return day + 6 - ((((day + 3) % 7) + 7) % 7);
  const months = MONTHS[granularity];
  if (months === undefined) return day;
  const { year, month } = dateOfDayNumber(day);
  return dayNumber({ year, month: month + months - ((month - 1) % months), day: 1 }) - 1;
}

/** One for each bucket; the last one ends with the range. */
export function windowEnds({ fromMs, toMs }: TimeRange, granularity: Granularity, timezone: string): number[] {
  const last = dayNumber(wallTimeAt(Math.max(fromMs, toMs - 1), timezone));
  const ends: number[] = [];
  for (let day = dayNumber(wallTimeAt(fromMs, timezone)); day <= last; day = (ends.at(-1) ?? last) + 1) {
    ends.push(Math.min(last, lastDayOf(day, granularity)));
  }
  return ends;
}
