// Resolves `compare` to the earlier range. Its days, months and years are those of the query's
// calendar where the range begins at a local midnight; a range that is still running is compared
// with the same part of the earlier one.
import type { TimeRange } from '../analyze/resolved.js';
import { report, type Scope } from '../analyze/scope.js';
import { quote } from '../errors.js';
import type { ComparedTo, Duration, StageOf } from '../parse/syntax.js';
import {
  CALENDAR_UNITS,
  EARLIEST_MS,
  resolveFromTo,
  startOfDay,
  startOfUnit,
  subtractMonths,
  type TimeStage,
  UNIT_MONTHS,
  UNIT_MS,
  UNITS_FORM,
  unitOf,
} from './range.js';
import { dayNumber, wallTimeAt } from './timezone.js';

const DAY_MS = 86_400_000;
const WEEK_DAYS = 7;

/** `time` is the stage that gave the range; undefined for the default range. */
export function resolveComparedRange(
  scope: Scope,
  { to, span }: StageOf<'compare'>,
  range: TimeRange,
  time: TimeStage | undefined,
): TimeRange | undefined {
  if (to.kind === 'moments') return resolveFromTo(scope, { kind: 'from_to', from: to.from, to: to.to, span });
  const earlier = earlierThan(scope, to, range, time);
  if (earlier === undefined || earlier.fromMs >= EARLIEST_MS) return earlier;
  const begin = new Date(earlier.fromMs);
  const written = Number.isNaN(begin.getTime()) ? 'before 1970' : `in ${begin.getUTCFullYear()}`;
  return report(
    scope,
    span,
    `the range to compare with begins ${written}`,
    'ranges begin at 1970-01-12 or later: shorten the time range, or write compare from A to B',
  );
}

function earlierThan(
  scope: Scope,
  to: Exclude<ComparedTo, { kind: 'moments' }>,
  range: TimeRange,
  time: TimeStage | undefined,
): TimeRange | undefined {
  const { timezone, nowMs } = scope;
  const elapsed = elapsedOf(range, nowMs);
  if (to.kind === 'duration') return before(scope, elapsed, to.duration);
  return to.kind === 'previous' ? previousOf({ range, elapsed, time }, timezone) : weeksBefore(elapsed, timezone);
}

/** The part of a range that has passed; a range that is yet to begin is taken whole. */
const elapsedOf = ({ fromMs, toMs }: TimeRange, nowMs: number): TimeRange => ({
  fromMs,
  toMs: fromMs < nowMs && nowMs < toMs ? nowMs : toMs,
});

const isMidnight = (ms: number, zone: string): boolean => startOfDay(ms, zone) === ms;

const daysBetween = ({ fromMs, toMs }: TimeRange, zone: string): number =>
  dayNumber(wallTimeAt(toMs, zone)) - dayNumber(wallTimeAt(fromMs, zone));

/**
 * As long as the range: whole days between two local midnights, else the same number of
 * milliseconds.
 */
const endOfSameLength = (startMs: number, range: TimeRange, zone: string): number =>
  isMidnight(range.fromMs, zone) && isMidnight(range.toMs, zone)
    ? startOfDay(startMs, zone, daysBetween(range, zone))
    : startMs + (range.toMs - range.fromMs);

/** A day that the zone skipped begins with the next one: then the day before it is meant. */
function startOfDaysBefore(fromMs: number, days: number, zone: string): number {
  const startMs = startOfDay(fromMs, zone, -days);
  return startMs < fromMs ? startMs : startOfDay(fromMs - 1, zone);
}

interface Elapsing {
  readonly range: TimeRange;
  readonly elapsed: TimeRange;
  readonly time: TimeStage | undefined;
}

/**
 * The calendar period before, or the range of equal length before; of either the part that has
 * passed of this one.
 */
function previousOf({ range, elapsed, time }: Elapsing, zone: string): TimeRange {
  const { fromMs, toMs } = range;
  if (time?.kind === 'named_range') {
    const unit = CALENDAR_UNITS.find((candidate) => candidate === time.unit?.text);
    const startMs = unit ? startOfUnit(fromMs - 1, unit, zone) : startOfDay(fromMs - 1, zone);
    const isWhole = time.word === 'yesterday' || time.word === 'last';
    return { fromMs: startMs, toMs: isWhole ? fromMs : Math.min(fromMs, endOfSameLength(startMs, range, zone)) };
  }
  const areDays = isMidnight(fromMs, zone) && isMidnight(toMs, zone);
  const startMs = areDays ? startOfDaysBefore(fromMs, daysBetween(range, zone), zone) : fromMs - (toMs - fromMs);
  return { fromMs: startMs, toMs: Math.min(fromMs, endOfSameLength(startMs, elapsed, zone)) };
}

/** The fewest whole weeks before, so that the ranges do not overlap. */
function weeksBefore(range: TimeRange, zone: string): TimeRange {
  let weeks = Math.max(1, Math.floor((range.toMs - range.fromMs) / (WEEK_DAYS * DAY_MS)));
  let earlier = daysBefore(range, weeks * WEEK_DAYS, zone);
  while (earlier.toMs > range.fromMs) earlier = daysBefore(range, ++weeks * WEEK_DAYS, zone);
  return earlier;
}

function daysBefore(range: TimeRange, days: number, zone: string): TimeRange {
  const { fromMs } = range;
  const startMs = isMidnight(fromMs, zone) ? startOfDaysBefore(fromMs, days, zone) : fromMs - days * DAY_MS;
  return { fromMs: startMs, toMs: endOfSameLength(startMs, range, zone) };
}

function before(scope: Scope, range: TimeRange, duration: Duration): TimeRange | undefined {
  const { amount, span } = duration;
  const unit = unitOf(duration);
  if (amount < 1) return report(scope, span, 'the duration is zero', 'it is at least 1, as in compare 1y');
  const months = UNIT_MONTHS.get(unit);
  if (months !== undefined) return monthsBefore(range, Math.min(amount * months, MONTHS_MAX), scope.timezone);
  const unitMs = UNIT_MS.get(unit);
  if (unitMs === undefined) return report(scope, span, `unknown unit ${quote(duration.unit)}`, UNITS_FORM);
  const ms = Math.min(amount * unitMs, MONTHS_MAX * 31 * DAY_MS);
  if (unitMs < DAY_MS) return { fromMs: range.fromMs - ms, toMs: range.toMs - ms };
  return daysBefore(range, ms / DAY_MS, scope.timezone);
}

/** Larger durations would leave the range of Date. */
const MONTHS_MAX = 24_000;

/**
 * Both ends at the same local time of an earlier month; a range of days that month does not have
 * keeps its length.
 */
function monthsBefore({ fromMs, toMs }: TimeRange, months: number, zone: string): TimeRange {
  const start = subtractMonths(fromMs, months, zone);
  const end = subtractMonths(toMs, months, zone);
  return { fromMs: start, toMs: end > start || toMs === fromMs ? end : start + (toMs - fromMs) };
}
