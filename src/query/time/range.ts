// Resolves time stages to ranges. `last` is rolling and independent of time zones; calendar words
// and dates use the query's time zone.

import type { CalendarPeriod, TimeRange } from '../analyze/resolved.js';
import { report, reportBeforeSyntax, type Scope } from '../analyze/scope.js';
import { findNearest, quote } from '../errors.js';
import type { Duration, StageOf, Text } from '../parse/syntax.js';
import { MOMENT_FORM, monthLength, tryParseMoment } from './moment.js';
import { dateOfDayNumber, dayNumber, instantOf, wallTimeAt } from './timezone.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

export const UNIT_MS: ReadonlyMap<string, number> = new Map([
  ['m', MINUTE_MS],
  ['h', HOUR_MS],
  ['d', DAY_MS],
  ['w', 7 * DAY_MS],
]);

export const UNIT_MONTHS: ReadonlyMap<string, number> = new Map([
  ['mo', 1],
  ['y', 12],
]);

/**
 * ClickHouse dates begin on 1970-01-01 (a Thursday) and its DateTime ends in 2106; buckets beyond
 * overflow. Ranges are clamped to where buckets are exact in every zone.
 */
export const EARLIEST_MS = Date.UTC(1970, 0, 12);
const LATEST_MS = Date.UTC(2100, 0, 1);

/** Units as words, in the singular. */
const UNIT_WORDS: ReadonlyMap<string, string> = new Map([
  ['minute', 'm'],
  ['hour', 'h'],
  ['day', 'd'],
  ['week', 'w'],
  ['month', 'mo'],
  ['year', 'y'],
]);

export const unitOf = ({ unit }: Duration): string => UNIT_WORDS.get(unit.toLowerCase().replace(/s$/, '')) ?? unit;

export const UNITS_FORM = 'units are m (minutes), h, d, w, mo (months) and y, as in last 7d';

export const TIME_STAGES = ['last', 'from_to', 'since', 'named_range'] as const;
export type TimeStage = StageOf<(typeof TIME_STAGES)[number]>;

/** The same wall time n months earlier; the 31st becomes the last day of a shorter month. */
export function subtractMonths(instantMs: number, months: number, zone = 'UTC'): number {
  const wall = wallTimeAt(instantMs, zone);
  const monthIndex = wall.year * 12 + wall.month - 1 - months;
  const year = Math.floor(monthIndex / 12);
  const month = (((monthIndex % 12) + 12) % 12) + 1;
  return instantOf({ ...wall, year, month, day: Math.min(wall.day, monthLength(year, month)) }, zone);
}

/**
 * `duration` before the instant, clamped; undefined, with a reported problem, for an invalid
 * duration.
 */
function subtractDuration(scope: Scope, instantMs: number, duration: Duration): number | undefined {
  if (duration.amount < 1) {
    return report(scope, duration.span, 'the duration is zero', 'it is at least 1, as in last 1d');
  }
  const unit = unitOf(duration);
  const unitMs = UNIT_MS.get(unit);
  if (unitMs !== undefined) return Math.max(EARLIEST_MS, instantMs - duration.amount * unitMs);
  const unitMonths = UNIT_MONTHS.get(unit);
  // Cap: larger durations would leave the range of Date.
  if (unitMonths !== undefined) {
    return Math.max(EARLIEST_MS, subtractMonths(instantMs, Math.min(duration.amount * unitMonths, 24_000)));
  }
  return report(scope, duration.span, `unknown unit ${quote(duration.unit)}`, UNITS_FORM);
}

/** A length by the calendar: days and months follow the clocks of a time zone. */
export interface CalendarSpan {
  readonly unit: 'millisecond' | 'day' | 'month';
  readonly amount: number;
}

/** Undefined, with a reported problem, for an invalid duration. */
export function resolveSpan(scope: Scope, duration: Duration): CalendarSpan | undefined {
  if (duration.amount < 1) {
    return report(scope, duration.span, 'the duration is zero', 'it is at least 1, as in last 1d');
  }
  const unit = unitOf(duration);
  const unitMs = UNIT_MS.get(unit);
  const unitMonths = UNIT_MONTHS.get(unit);
  if (unitMonths !== undefined) return { unit: 'month', amount: Math.min(duration.amount * unitMonths, 1200) };
  if (unitMs === undefined) return report(scope, duration.span, `unknown unit ${quote(duration.unit)}`, UNITS_FORM);
  const lengthMs = Math.min(duration.amount * unitMs, LENGTH_MAX_MS);
  if (unitMs < DAY_MS) return { unit: 'millisecond', amount: lengthMs };
  return { unit: 'day', amount: lengthMs / DAY_MS };
}

/** The start of the span that ends at the instant. */
export function startOfSpan(instantMs: number, { unit, amount }: CalendarSpan, zone: string): number {
  if (unit === 'millisecond') return Math.max(EARLIEST_MS, instantMs - amount);
  if (unit === 'month') return Math.max(EARLIEST_MS, subtractMonths(instantMs, amount, zone));
  const wall = wallTimeAt(instantMs, zone);
  return Math.max(EARLIEST_MS, instantOf({ ...wall, day: wall.day - amount }, zone));
}

/** As a length, a month is 30 and a year 365 days, because it may start at any date. */
const LENGTH_DAYS: ReadonlyMap<string, number> = new Map([
  ['mo', 30],
  ['y', 365],
]);
const LENGTH_MAX_MS = 100 * 365 * DAY_MS;

/** Length of a window in milliseconds. */
export function resolveLength(scope: Scope, duration: Duration): number | undefined {
  if (duration.amount < 1) {
    return report(scope, duration.span, 'the duration is zero', 'it is at least 1, as in window 1d');
  }
  const unit = unitOf(duration);
  const days = LENGTH_DAYS.get(unit);
  const unitMs = UNIT_MS.get(unit) ?? (days === undefined ? undefined : days * DAY_MS);
  if (unitMs !== undefined) return Math.min(duration.amount * unitMs, LENGTH_MAX_MS);
  return report(scope, duration.span, `unknown unit ${quote(duration.unit)}`, UNITS_FORM);
}

export const CALENDAR_UNITS = ['week', 'month', 'quarter', 'year'] as const;
export type CalendarUnit = (typeof CALENDAR_UNITS)[number];

/** Start of the day `offset` days after the day of `instantMs`. */
export function startOfDay(instantMs: number, zone: string, offset = 0): number {
  const wall = wallTimeAt(instantMs, zone);
  return instantOf({ year: wall.year, month: wall.month, day: wall.day + offset }, zone);
}

export function startOfUnit(instantMs: number, unit: CalendarUnit, zone: string): number {
  const wall = wallTimeAt(instantMs, zone);
  switch (unit) {
    case 'week': {
      // 1970-01-01 was a Thursday: three days after a Monday.
      const day = dayNumber(wall);
      const monday = day - ((((day + 3) % 7) + 7) % 7);
      return instantOf(dateOfDayNumber(monday), zone);
    }
    case 'month':
      return instantOf({ year: wall.year, month: wall.month, day: 1 }, zone);
    case 'quarter':
      return instantOf({ year: wall.year, month: wall.month - ((wall.month - 1) % 3), day: 1 }, zone);
    case 'year':
      return instantOf({ year: wall.year, month: 1, day: 1 }, zone);
  }
}

/** The first day of the period that contains the instant. */
export function dateOfPeriod(instantMs: number, period: CalendarPeriod, zone: string): string {
  const startMs = period === 'day' ? startOfDay(instantMs, zone) : startOfUnit(instantMs, period, zone);
  const { year, month, day } = wallTimeAt(startMs, zone);
  return new Date(Date.UTC(year, month - 1, day)).toISOString().slice(0, 10);
}

const resolveInstant = (scope: Scope, { text, span }: Text): number | undefined =>
  tryParseMoment(text, scope.timezone) ?? report(scope, span, `${quote(text)} is not a time`, MOMENT_FORM);

function resolveSince(scope: Scope, { from }: StageOf<'since'>): TimeRange | undefined {
  const fromMs = resolveInstant(scope, from);
  if (fromMs === undefined) return undefined;
  if (fromMs < scope.nowMs) return { fromMs: Math.max(EARLIEST_MS, fromMs), toMs: scope.nowMs };
  return report(scope, from.span, `since ${from.text} is in the future`, 'the range ends now');
}

export function resolveFromTo(scope: Scope, stage: StageOf<'from_to'>): TimeRange | undefined {
  const [fromMs, toMs] = [stage.from, stage.to].map((moment) => resolveInstant(scope, moment));
  if (fromMs === undefined || toMs === undefined) return undefined;
  const range = { fromMs: Math.max(EARLIEST_MS, fromMs), toMs: Math.min(LATEST_MS, toMs) };
  if (range.fromMs < range.toMs) return range;
  return report(
    scope,
    { from: stage.from.span.from, to: stage.to.span.to },
    `the range from ${stage.from.text} to ${stage.to.text} is empty`,
    'the first time is included, the second is not, and has to be later; ranges lie between 1970-01-12 and 2100-01-01',
  );
}

/** `this week` runs until now; `last week` is the whole week before. */
function resolvePeriod(scope: Scope, word: string, { text, span }: Text): TimeRange | undefined {
  const unit = CALENDAR_UNITS.find((candidate) => candidate === text);
  if (unit) {
    const startMs = startOfUnit(scope.nowMs, unit, scope.timezone);
    if (word === 'this') return { fromMs: startMs, toMs: scope.nowMs };
    return { fromMs: startOfUnit(startMs - 1, unit, scope.timezone), toMs: startMs };
  }
  const nearest = findNearest(text, CALENDAR_UNITS);
  return reportBeforeSyntax(scope, {
    span,
    message: `unknown period ${quote(text)} after ${word}`,
    hint: nearest
      ? `nearest is "${nearest}"`
      : `periods are ${word} week, ${word} month, ${word} quarter and ${word} year; ${word === 'this' ? 'today' : 'yesterday'} is a word of its own`,
    replacement: nearest,
  });
}

export function resolveTimeStage(scope: Scope, stage: TimeStage): TimeRange | undefined {
  switch (stage.kind) {
    case 'last': {
      const fromMs = subtractDuration(scope, scope.nowMs, stage.duration);
      return fromMs === undefined ? undefined : { fromMs, toMs: scope.nowMs };
    }
    case 'from_to':
      return resolveFromTo(scope, stage);
    case 'named_range': {
      if (stage.unit) return resolvePeriod(scope, stage.word, stage.unit);
      const today = startOfDay(scope.nowMs, scope.timezone);
      if (stage.word === 'today') return { fromMs: today, toMs: scope.nowMs };
      return { fromMs: startOfDay(scope.nowMs, scope.timezone, -1), toMs: today };
    }
    case 'since':
      return resolveSince(scope, stage);
  }
}

export const lastDays = (nowMs: number, days: number): TimeRange => ({ fromMs: nowMs - days * DAY_MS, toMs: nowMs });
