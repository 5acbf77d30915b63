// Time buckets of an answer: their labels in the zone of the query, and which of them the period
// covers only in part.
import { serviceNow } from '../api/clock.js';
import { clock, day, localDate, minute, month, monthAndDay, zoneOffset } from './format.js';

const TIMES = ['minute', 'hour', 'day', 'week', 'month', 'quarter', 'year'] as const;
export type TimeUnit = (typeof TIMES)[number];
const CYCLES = ['weekday', 'hour_of_day'] as const;
export type CycleUnit = (typeof CYCLES)[number];

export const timeUnitOf = (column: string): TimeUnit | undefined => TIMES.find((unit) => unit === column);
export const cycleUnitOf = (column: string): CycleUnit | undefined => CYCLES.find((unit) => unit === column);

const WEEKDAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];

export const cycleLabel = (unit: CycleUnit, value: number): string =>
  unit === 'weekday' ? (WEEKDAYS[value - 1] ?? String(value)) : `${String(value).padStart(2, '0')}:00`;

/** Label of an axis. On a long one, times of day have their date and dates their year. */
export function shortLabel(unit: TimeUnit, value: string, timeZone: string, isLong = false): string {
  if (isOfClock(unit)) {
    const time = clock(value, timeZone) + offsetOf(value, timeZone);
    return isLong ? `${monthAndDay(localDate(value, timeZone))}, ${time}` : time;
  }
  if (unit === 'day' || unit === 'week') return isLong ? day(value) : monthAndDay(value);
  if (unit === 'month') return month(value);
  return longLabel(unit, value, timeZone);
}

const changes = new Map<string, boolean>();

/** Whether the zone's offset changes about that day. Thousands of minutes share the answer. */
function isNearChange(at: number, timeZone: string): boolean {
  const key = `${timeZone} ${Math.floor(at / DAY_MS)}`;
  const offsetAt = (days: number): string => zoneOffset(instantOf(at + days * DAY_MS), timeZone);
  if (!changes.has(key)) changes.set(key, offsetAt(-2) !== offsetAt(2));
  return changes.get(key) === true;
}

/** ` GMT+2` in the hour that a clock shows twice, when summer time ends; otherwise nothing. */
function offsetOf(value: string, timeZone: string): string {
  const at = Date.parse(value);
  if (!isNearChange(at, timeZone)) return '';
  const clockAt = (ms: number): string => clock(instantOf(ms), timeZone);
  const isTwice = [HOUR_MS, -HOUR_MS].some((step) => clockAt(at + step) === clockAt(at));
  return isTwice ? ` ${zoneOffset(value, timeZone)}` : '';
}

/** Label in tables and under the pointer. */
export function longLabel(unit: TimeUnit, value: string, timeZone: string): string {
  switch (unit) {
    case 'minute':
    case 'hour':
      return minute(value, timeZone) + offsetOf(value, timeZone);
    case 'day':
      return day(value, true);
    case 'week':
      return `Week of ${day(value)}`;
    case 'month':
      return month(value);
    case 'quarter':
      return `Q${Math.floor((Number(value.slice(5, 7)) - 1) / 3) + 1} ${value.slice(0, 4)}`;
    default:
      return value.slice(0, 4);
  }
}

export type Part = 'start' | 'so far' | 'partial' | undefined;

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
/** A period that ended so recently is still running. */
const RUNNING_MS = 5 * MINUTE_MS;

/** Whether the period begins or ends inside of the bucket. */
export function partOf(
  unit: TimeUnit,
  value: string,
  { period, timeZone }: { period: string; timeZone: string },
): Part {
  const [from = '', to = ''] = period.split('/');
  const [startsEarlier, endsLater] = isOfClock(unit)
    ? [Date.parse(value) < Date.parse(from), Date.parse(value) + sizeOf(unit) > Date.parse(to)]
    : [beginsInside(value, from, timeZone), endOf(unit, value) > localDate(to, timeZone)];
  if (endsLater) return serviceNow() - Date.parse(to) < RUNNING_MS ? 'so far' : 'partial';
  return startsEarlier ? 'start' : undefined;
}

/** The same for answers whose first bucket is always whole. */
export function endPartOf(...arguments_: Parameters<typeof partOf>): Part {
  const part = partOf(...arguments_);
  return part === 'start' ? undefined : part;
}

const DAY_MS = 24 * HOUR_MS;

/** The unit of dates that follow each other. */
export function unitBetween([first = '', second = '']: readonly string[]): TimeUnit {
  const days = (Date.parse(second) - Date.parse(first)) / DAY_MS;
  return days > 7 ? 'month' : days > 1 ? 'week' : 'day';
}

/** Whether short labels would repeat between the first and the last of the buckets. */
export function isLongAxis(unit: TimeUnit, values: readonly string[]): boolean {
  const days = (Date.parse(values.at(-1) ?? '') - Date.parse(values[0] ?? '')) / DAY_MS;
  return days >= (isOfClock(unit) ? 1 : 365);
}

const isOfClock = (unit: TimeUnit): unit is 'minute' | 'hour' => unit === 'minute' || unit === 'hour';
const sizeOf = (unit: 'minute' | 'hour'): number => (unit === 'minute' ? MINUTE_MS : HOUR_MS);

/** The date is before the period's, or the period begins later on that date. */
function beginsInside(date: string, from: string, timeZone: string): boolean {
  const first = localDate(from, timeZone);
  if (date !== first) return date < first;
  return localDate(new Date(Date.parse(from) - 1).toISOString(), timeZone) === first;
}

/** The stage that asks for these buckets and those between them. */
export function rangeStage(unit: TimeUnit, first: string, last: string): string {
  const end = isOfClock(unit) ? new Date(Date.parse(last) + sizeOf(unit)).toISOString() : endOf(unit, last);
  return `from ${first} to ${end}`;
}

/** The first date after the bucket. */
const endOf = (unit: TimeUnit, value: string): string => besideOf(unit, value, 1);

/** The start of the bucket behind (1) or before (-1) the one that starts at the value. */
function besideOf(unit: TimeUnit, value: string, step: 1 | -1): string {
  if (isOfClock(unit)) return instantOf(Date.parse(value) + step * sizeOf(unit));
  const date = new Date(`${value}T00:00:00Z`);
  if (unit === 'day') date.setUTCDate(date.getUTCDate() + step);
  else if (unit === 'week') date.setUTCDate(date.getUTCDate() + step * 7);
  else date.setUTCMonth(date.getUTCMonth() + step * (unit === 'month' ? 1 : unit === 'quarter' ? 3 : 12));
  return date.toISOString().slice(0, 10);
}

/** As answers write instants. */
const instantOf = (ms: number): string => new Date(ms).toISOString().replace('.000', '');

/** The most that an answer grouped by time alone has. */
const BUCKETS_MAX = 10_000;

/**
 * Every bucket of the period, from the ordered ones that have rows: those without rows have their
 * place on the axis of time, too.
 */
export function bucketsOfPeriod(
  unit: TimeUnit,
  values: readonly string[],
  { period, timeZone }: { period: string; timeZone: string },
): readonly string[] {
  const [from = 0, to = 0] = period.split('/').map((text) => Date.parse(text));
  const placeOf = (ms: number): number => (isOfClock(unit) ? ms : Date.parse(localDate(instantOf(ms), timeZone)));
  const [first, last] = [placeOf(from), placeOf(to - 1)];
  const all: string[] = [];
  for (let [at] = values; at !== undefined && Date.parse(at) > first && all.length < BUCKETS_MAX; ) {
    at = besideOf(unit, at, -1);
    all.push(at);
  }
  all.reverse();
  for (const [index, value] of values.entries()) {
    const next = Date.parse(values[index + 1] ?? '') || Math.max(last, Date.parse(value)) + 1;
    for (let at = value; Date.parse(at) < next && all.length < BUCKETS_MAX; at = besideOf(unit, at, 1)) all.push(at);
  }
  return all.length < BUCKETS_MAX ? all : values;
}
