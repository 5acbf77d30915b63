// Reference implementation of the earlier range of `compare`.
import {
  bucketAfter,
  bucketOf,
  DAY,
  type Interval,
  instantOfWallClock,
  intervalOf,
  startOfDate,
  wallClock,
} from './calendar.js';
import type { Comparison, Range, Span } from './question.js';
import type { World } from './world.js';

type Clock = World['clock'];

export function earlierInterval(
  compare: Comparison,
  range: Range | undefined,
  interval: Interval,
  clock: Clock,
): Interval {
  const { timezone, now } = clock;
  // A range that is still running is compared with the same part of the earlier one.
  const isRunning = interval.start < now && now < interval.end;
  const passed = isRunning ? { start: interval.start, end: now } : interval;
  switch (compare.kind) {
    case 'from':
      return intervalOf(compare, { count: 1, unit: 'd' }, clock);
    case 'previous': {
      const { start, end } = previous(range, interval, timezone);
      return { start, end: isRunning ? Math.min(end, asLongAs(passed, start, timezone)) : end };
    }
    case 'weekdays':
      for (let weeks = 1; ; weeks += 1) {
        const earlier = daysBefore(passed, weeks * 7, timezone);
        if (earlier.end <= passed.start) return earlier;
      }
    case 'span':
      return spanBefore(passed, compare.span, timezone);
  }
}

const dayOf = (time: number, zone: string): string => bucketOf(time, 'day', zone);
const isMidnight = (time: number, zone: string): boolean => startOfDate(dayOf(time, zone), zone) === time;

function daysIn({ start, end }: Interval, zone: string): number {
  let days = 0;
  while (bucketAfter(dayOf(start, zone), 'day', days) < dayOf(end, zone)) days += 1;
  return days;
}

/** Between two local midnights whole days, else the same number of milliseconds. */
function asLongAs(interval: Interval, start: number, zone: string): number {
  if (!isMidnight(interval.start, zone) || !isMidnight(interval.end, zone))
    return start + (interval.end - interval.start);
  return startOfDate(bucketAfter(dayOf(start, zone), 'day', daysIn(interval, zone)), zone);
}

function previous(range: Range | undefined, interval: Interval, zone: string): Interval {
  if (range?.kind === 'today' || range?.kind === 'yesterday' || range?.kind === 'this') {
    const unit = range.kind === 'this' ? range.unit : 'day';
    const before = bucketAfter(bucketOf(interval.start, unit, zone), unit, -1);
    const start = startOfDate(before, zone);
    if (range.kind === 'yesterday') return { start, end: interval.start };
    return { start, end: Math.min(interval.start, asLongAs(interval, start, zone)) };
  }
  if (!isMidnight(interval.start, zone) || !isMidnight(interval.end, zone)) {
    return { start: interval.start - (interval.end - interval.start), end: interval.start };
  }
  const first = bucketAfter(dayOf(interval.start, zone), 'day', -daysIn(interval, zone));
  return { start: startOfDate(first, zone), end: interval.start };
}

/**
 * Reading: days are those of the calendar when the range begins at a local midnight, else 24 hours.
 */
function daysBefore(interval: Interval, days: number, zone: string): Interval {
  const start = isMidnight(interval.start, zone)
    ? startOfDate(bucketAfter(dayOf(interval.start, zone), 'day', -days), zone)
    : interval.start - days * DAY;
  return { start, end: asLongAs(interval, start, zone) };
}

function spanBefore(interval: Interval, { count, unit }: Span, zone: string): Interval {
  switch (unit) {
    case 'm':
    case 'h': {
      const length = count * (unit === 'm' ? 60_000 : 3_600_000);
      return { start: interval.start - length, end: interval.end - length };
    }
    case 'd':
    case 'w':
      return daysBefore(interval, unit === 'd' ? count : 7 * count, zone);
    case 'mo':
    case 'y': {
      const months = unit === 'mo' ? count : 12 * count;
      const start = monthsBefore(interval.start, months, zone);
      const end = monthsBefore(interval.end, months, zone);
      // Reading: a range of days that the month does not have keeps its length.
      return {
        start,
        end: end > start || interval.start === interval.end ? end : start + interval.end - interval.start,
      };
    }
  }
}

/** The same wall-clock time; the 31st is the last day of a shorter month. */
function monthsBefore(time: number, months: number, zone: string): number {
  const wall = new Date(wallClock(time, zone));
  const [year, month] = [wall.getUTCFullYear(), wall.getUTCMonth() - months];
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  const sinceMidnight = wall.getTime() - Date.UTC(year, wall.getUTCMonth(), wall.getUTCDate());
  return instantOfWallClock(Date.UTC(year, month, Math.min(wall.getUTCDate(), lastDay)) + sinceMidnight, zone);
}
