// Plan of the returns of retention: collected per person, numbered by period after the start, and
// counted per cohort.
import type { EventSet } from '../../analyze/resolved.js';
import { isIn } from '../../conditions/plan-events.js';
import { passPerson } from '../../people/list-people.js';
import type { PlanContext } from '../../people/scan.js';
import { passThrough } from '../../plan/answer.js';
import { eventMs, filter, map } from '../../plan/behaviour.js';
import {
  alias,
  column,
  constant,
  type Expression,
  element,
  infix,
  integer,
  lambda,
  textValue,
  tupleElement,
} from '../../plan/expressions.js';
import { readNumber } from '../../plan/field-expressions.js';
import { fn } from '../../plan/functions.js';
import { type Columns, type Step, select, step } from '../../plan/plan.js';
import type { Calendar } from '../../time/calendar.js';
import type { RetentionQuery } from './analyze.js';

export interface Periods {
  readonly query: RetentionQuery;
  readonly calendar: Calendar;
}

export const ANY: EventSet = { name: '*', eventTypes: undefined, condition: undefined };

const isAny = ({ eventTypes, condition }: EventSet): boolean => eventTypes === undefined && condition === undefined;

/**
 * Whether the calendar periods of all events that were read are enough: each of them is a return,
 * and returns are at or after the start, or the start itself.
 */
const areNumbered = ({ start, returning = ANY, windowMs, sum, people }: RetentionQuery): boolean =>
  (isAny(returning) || (returning.name === start.name && returning.condition === undefined)) &&
  !windowMs &&
  !sum &&
  !people;

/** Unbounded, the last return of a person decides. */
const hasLastOnly = ({ isUnbounded, people }: RetentionQuery): boolean => isUnbounded && !people;

/**
 * Per person: the time of the last return event; or of all, the periods, the times, or pairs of
 * time and amount.
 */
export function gatherReturns({ query, calendar }: Periods, context: PlanContext): Expression {
  const { returning = ANY, sum } = query;
  if (hasLastOnly(query))
    return isAny(returning) ? fn.max(eventMs) : fn.maxIf(eventMs, isIn(returning, context.projectId));
  // Not collected as pairs of time and period, which takes 1.5 times as long.
  if (areNumbered(query)) return fn.groupUniqArray(calendar.numberOf(column('time')));
  const isReturn = isIn(returning, context.projectId);
  if (sum === undefined) return fn.groupArrayIf(eventMs, isReturn);
  return fn.groupArrayIf(fn.tuple(eventMs, fn.ifNull(readNumber(sum), constant(0))), isReturn);
}

/** Before the first period of any cohort. */
const NEVER = -1;

/**
 * Per person: the cohort, and the last or all periods of the returns as numbers: calendar periods
 * of their own, or those of a length counted from the start.
 */
export function planReturns(periods: Periods, from: Step, groups: readonly string[]): Step {
  const { query, calendar } = periods;
  const { windowMs, sum, people } = query;
  const [started, returns] = [alias('started'), alias('returns')];
  const timeOf = (of: Expression): Expression => (sum ? tupleElement(of, 1) : of);
  const calendarNumberOf = (ms: Expression): Expression =>
    calendar.numberOf(fn.fromUnixTimestamp64Milli(ms, textValue('UTC')));
  const numberOf = (ms: Expression): Expression =>
    windowMs === undefined ? calendarNumberOf(ms) : fn.intDiv(infix('-', ms, started), integer(windowMs));
  const later = filter(returns, 'return', (of) => infix('>=', timeOf(of), started));
  const ofAll: Columns = {
    ...passThrough(...groups, ...(windowMs === undefined ? [] : ['started'])),
    cohort: calendarNumberOf(started),
  };
  if (hasLastOnly(query)) {
    const last_period = fn.if(infix('>=', returns, started), numberOf(returns), integer(NEVER));
    return step('periods_of_people', select({ columns: { ...ofAll, last_period }, from }));
  }
  const columns: Columns = {
    ...ofAll,
    periods: areNumbered(query) ? returns : map(later, 'return', (of) => numberOf(timeOf(of))),
    ...(sum && { amounts: map(later, 'return', (of) => tupleElement(of, 2)) }),
    ...(people && { ...passPerson, later }),
  };
  return step('periods_of_people', select({ columns, from }));
}

/** The number of a period of the cohort. */
export const positionOf = ({ windowMs }: RetentionQuery, period: Expression): Expression =>
  windowMs === undefined ? infix('+', alias('cohort'), period) : period;

/** Whether the person returned in that period of the cohort; unbounded: in it or later. */
export function isBackIn({ query }: Periods, period: Expression): Expression {
  const position = positionOf(query, period);
  if (!query.isUnbounded) return fn.has(alias('periods'), position);
  return infix('>=', alias('last_period'), position);
}

/** Sums of a cohort: in the period, and up to it. */
export function planTotals(query: RetentionQuery): Columns {
  const position = positionOf(query, alias('period'));
  const [numbers, amounts] = [tupleElement(alias('totals'), 1), tupleElement(alias('totals'), 2)];
  const isUpTo = lambda(['amount', 'number'], (_, number) => infix('<=', number, position));
  return {
    total: element(amounts, fn.indexOf(numbers, position)),
    cumulative: fn.arraySum(fn.arrayFilter(isUpTo, amounts, numbers)),
  };
}
