// Numbers calendar periods (day to year) consecutively, so that they can be subtracted.
import type { CalendarPeriod } from '../analyze/resolved.js';
import { type Expression, infix, instant, integer } from '../plan/expressions.js';
import { fn } from '../plan/functions.js';
import { bucketOf, inBucket } from './buckets.js';
import { allSkippedDays } from './irregular-hours.js';
import { dayNumber, wallTimeAt } from './timezone.js';

const NUMBER = {
  day: 'toRelativeDayNum',
  week: 'toRelativeWeekNum',
  month: 'toRelativeMonthNum',
  quarter: 'toRelativeQuarterNum',
  year: 'toRelativeYearNum',
} as const satisfies Record<CalendarPeriod, string>;

const ADD = {
  day: 'addDays',
  week: 'addWeeks',
  month: 'addMonths',
  quarter: 'addQuarters',
  year: 'addYears',
} as const satisfies Record<CalendarPeriod, string>;

export interface Calendar {
  /** Number of the period that contains the time. */
  readonly numberOf: (time: Expression) => Expression;
  /** Of the period that contains the instant; its text is the same in the whole period. */
  readonly numberAt: (ms: number) => Expression;
  /** First day of the n-th period after the one that contains the instant. */
  readonly dateAfter: (instantMs: number, periods: Expression) => Expression;
}

export function calendarOf(period: CalendarPeriod, timezone: string): Calendar {
  const dateOf = (time: Expression): Expression => bucketOf(time, { granularity: period, timezone });
  const number = (time: Expression): Expression => fn[NUMBER[period]](dateOf(time));
  const skipped = period === 'day' ? allSkippedDays(timezone) : [];
  const numberOf = (time: Expression): Expression =>
    skipped.reduce((days, day) => infix('-', days, infix('>', number(time), integer(day))), number(time));
  const inPeriod = (ms: number): Expression => instant(inBucket(ms, { granularity: period, timezone }));
  return {
    numberOf,
    numberAt: (ms) => numberOf(inPeriod(ms)),
    dateAfter: (instantMs, periods) => {
      const first = dayNumber(wallTimeAt(instantMs, timezone));
      const steps = skipped
        .filter((day) => day > first)
        .reduce((sum, day, index) => infix('+', sum, infix('>=', periods, integer(day - first - index))), periods);
      return fn[ADD[period]](dateOf(inPeriod(instantMs)), steps);
    },
  };
}

/** Number of periods since the one of `instantMs`. */
export const periodsSince = ({ numberAt }: Calendar, instantMs: number, number: Expression): Expression =>
  infix('-', number, numberAt(instantMs));
