// Reference implementation of time: ranges, calendar buckets and time zones, based on the
// wall-clock time that `Intl` reports for a zone. A bucket of a day or longer is identified by its
// start date, as in the answer.
import type { CalendarUnit, Range, Span, TimeUnit } from './question.js';

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** Half-open: the start is included, the end is not. */
export interface Interval {
  readonly start: number;
  readonly end: number;
}

export const isWithin = (time: number, { start, end }: Interval): boolean => time >= start && time < end;

/** RFC 3339 in UTC with milliseconds; the comparison accepts other formats of the same instant. */
export const toRfc3339 = (time: number): string => new Date(time).toISOString();

const clocks = new Map<string, Intl.DateTimeFormat>();

function clockOf(zone: string): Intl.DateTimeFormat {
  let clock = clocks.get(zone);
  if (clock === undefined) {
    clock = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    clocks.set(zone, clock);
  }
  return clock;
}

/** The wall-clock time, as the instant at which a clock in UTC shows the same. */
export function wallClock(time: number, zone: string): number {
  if (zone === 'UTC') return time;
  const parts: Record<string, number> = {};
  for (const { type, value } of clockOf(zone).formatToParts(time)) parts[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second) + (((time % SECOND) + SECOND) % SECOND);
}

/**
 * The instant of a wall-clock time. Of two (clocks were set back) the first; of none (clocks were
 * set forward) the instant as if the clock had not been set, so that a day without midnight starts
 * at its first moment.
 */
export function instantOfWallClock(wall: number, zone: string): number {
  const offsetBefore = wallClock(wall - DAY, zone) - (wall - DAY);
  const offsetAfter = wallClock(wall + DAY, zone) - (wall + DAY);
  const candidates = [wall - offsetBefore, wall - offsetAfter].sort((a, b) => a - b);
  return candidates.find((candidate) => wallClock(candidate, zone) === wall) ?? wall - offsetBefore;
}

const dateOf = (wall: number): string => new Date(wall).toISOString().slice(0, 10);
const wallOf = (date: string): number => Date.parse(`${date}T00:00:00Z`);

export const startOfDate = (date: string, zone: string): number => instantOfWallClock(wallOf(date), zone);

/** The bucket of an instant: the date it starts on, or for hours the instant it starts at. */
export function bucketOf(time: number, unit: CalendarUnit, zone: string): string {
  const wall = wallClock(time, zone);
  if (unit === 'hour') return toRfc3339(time - (((wall % HOUR) + HOUR) % HOUR));
  return startOfPeriod(dateOf(wall), unit);
}

function startOfPeriod(date: string, unit: Exclude<CalendarUnit, 'hour'>): string {
  const [year = 0, month = 1] = date.split('-').map(Number);
  switch (unit) {
    case 'day':
      return date;
    case 'week':
      return dateOf(wallOf(date) - ((new Date(wallOf(date)).getUTCDay() + 6) % 7) * DAY);
    case 'month':
      return dateOf(Date.UTC(year, month - 1, 1));
    case 'quarter':
      return dateOf(Date.UTC(year, Math.floor((month - 1) / 3) * 3, 1));
    case 'year':
      return dateOf(Date.UTC(year, 0, 1));
  }
}

/** The bucket `steps` after another; a negative number goes back. */
export function bucketAfter(bucket: string, unit: CalendarUnit, steps = 1): string {
  if (unit === 'hour') return toRfc3339(Date.parse(bucket) + steps * HOUR);
  const [year = 0, month = 1, day = 1] = bucket.split('-').map(Number);
  const months = { month: 1, quarter: 3, year: 12, week: 0, day: 0 }[unit] * steps;
  const days = unit === 'day' ? steps : unit === 'week' ? 7 * steps : 0;
  return dateOf(Date.UTC(year, month - 1 + months, day + days));
}

/** Every bucket that overlaps a range, in order. */
export function bucketsOf({ start, end }: Interval, unit: CalendarUnit, zone: string): string[] {
  const buckets: string[] = [];
  if (start >= end) return buckets;
  const last = bucketOf(end - 1, unit, zone);
  for (let bucket = bucketOf(start, unit, zone); bucket <= last; bucket = bucketAfter(bucket, unit))
    buckets.push(bucket);
  return buckets;
}

/** What an event at this time is grouped by. */
export function timeGroupOf(time: number, unit: TimeUnit, zone: string): string | number {
  const wall = new Date(wallClock(time, zone));
  if (unit === 'hour_of_day') return wall.getUTCHours();
  return unit === 'weekday' ? wall.getUTCDay() || 7 : bucketOf(time, unit, zone);
}

/** Every such group of a range, in order: of those that repeat, all there are. */
export function timeGroupsOf(interval: Interval, unit: TimeUnit, zone: string): (string | number)[] {
  if (unit === 'hour_of_day') return Array.from({ length: 24 }, (_, hour) => hour);
  return unit === 'weekday' ? [1, 2, 3, 4, 5, 6, 7] : bucketsOf(interval, unit, zone);
}

const SPAN_MS = { m: MINUTE, h: HOUR, d: DAY, w: 7 * DAY } as const;

/** The length of a `window`. */
export function lengthOf({ count, unit }: Span): number {
  if (unit === 'mo' || unit === 'y') throw new Error(`a window has no calendar units, but ${unit} was asked for`);
  return count * SPAN_MS[unit];
}

/**
 * Subtracts a span from `now`. Days are 24 hours, regardless of clock changes; months and years
 * follow the calendar in UTC and end on the last day of a shorter month (reading: "the time zone
 * changes buckets and calendar words only").
 */
function spanBefore(now: number, { count, unit }: Span): number {
  if (unit !== 'mo' && unit !== 'y') return now - count * SPAN_MS[unit];
  const then = new Date(now);
  const months = then.getUTCFullYear() * 12 + then.getUTCMonth() - count * (unit === 'y' ? 12 : 1);
  const lastDay = new Date(Date.UTC(Math.floor(months / 12), (months % 12) + 1, 0)).getUTCDate();
  then.setUTCFullYear(Math.floor(months / 12), months % 12, Math.min(then.getUTCDate(), lastDay));
  return then.getTime();
}

/** The end of a bucket. */
export function timeGroupEnd(bucket: string, unit: CalendarUnit, zone: string): number {
  const next = bucketAfter(bucket, unit);
  return unit === 'hour' ? Date.parse(next) : startOfDate(next, zone);
}

/**
 * The start of a span that ends at `end`. Days, weeks, months and years are those of the calendar
 * of the zone; of days, the start is the beginning of a day.
 */
export function startOfSpan(
  end: number,
  span: Span,
  { timezone, isOfDays }: { timezone: string; isOfDays: boolean },
): number {
  if (span.unit === 'm' || span.unit === 'h') return end - lengthOf(span);
  const wall = spanBefore(wallClock(end, timezone), span);
  return isOfDays ? startOfDate(dateOf(wall), timezone) : instantOfWallClock(wall, timezone);
}

export interface Clock {
  readonly now: number;
  readonly timezone: string;
}

/**
 * Reading: a range that ends now excludes this millisecond, like any end, and later times too (of
 * clocks that run fast).
 */
export function intervalOf(range: Range | undefined, fallback: Span, { now, timezone }: Clock): Interval {
  const today = dateOf(wallClock(now, timezone));
  switch (range?.kind) {
    case undefined:
      return { start: spanBefore(now, fallback), end: now };
    case 'last':
      return { start: spanBefore(now, range.span), end: now };
    case 'from':
      return { start: momentOf(range.from, timezone), end: momentOf(range.to, timezone) };
    case 'today':
      return { start: startOfDate(today, timezone), end: now };
    case 'yesterday':
      return { start: startOfDate(bucketAfter(today, 'day', -1), timezone), end: startOfDate(today, timezone) };
    case 'this':
      return { start: startOfDate(startOfPeriod(today, range.unit), timezone), end: now };
  }
}

/** A date or timestamp of a query; without an offset it is wall-clock time of the zone. */
function momentOf(text: string, zone: string): number {
  if (/^\d{4}-\d\d-\d\d$/.test(text)) return startOfDate(text, zone);
  if (/(Z|[+-]\d\d:\d\d)$/.test(text)) return Date.parse(text);
  return instantOfWallClock(Date.parse(`${text}Z`), zone);
}
