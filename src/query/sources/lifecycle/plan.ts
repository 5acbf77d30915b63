// Plan of `lifecycle`: the status of each person in each period.
import type { ResolvedQuery } from '../../analyze/resolved.js';
import { type PlanContext, selectEvents } from '../../people/scan.js';
import { planWithoutUnit } from '../../people/without-unit.js';
import { orderBy, planAnswer } from '../../plan/answer.js';
import { filter, map } from '../../plan/behaviour.js';
import { subjectOf } from '../../plan/distinct.js';
import {
  alias,
  allOf,
  column,
  constant,
  type Expression,
  element,
  equals,
  infix,
  instant,
  integer,
  lambda,
  textValues,
} from '../../plan/expressions.js';
import { fn } from '../../plan/functions.js';
import { extend, type Plan, type Step, select, step } from '../../plan/plan.js';
import { type Calendar, calendarOf, periodsSince } from '../../time/calendar.js';
import type { LifecycleQuery } from './analyze.js';
import { STATUSES } from './people.js';
import { planLifecyclePeople } from './plan-people.js';

type ResolvedLifecycle = LifecycleQuery & ResolvedQuery;

const STATUS_COUNT = constant(4);
const indexOf = (status: (typeof STATUSES)[number]): Expression => integer(STATUSES.indexOf(status));

/** The last period may extend beyond the range, by at most a month. */
const PERIOD_MAX_MS = 32 * 86_400_000;

/**
 * One row per person: the active periods in order, and the distance of each from the one before.
 */
function planPeople({ selection, unit }: ResolvedLifecycle, calendar: Calendar, context: PlanContext): Step {
  // `New` depends on all earlier events, so the scan has no lower bound.
  const range = { fromMs: 0, toMs: selection.range.toMs + PERIOD_MAX_MS };
  const subject = subjectOf(unit);
  const people = selectEvents(context, {
    selection: { ...selection, range },
    columns: { person: subject.value, active: fn.arraySort(fn.groupUniqArray(calendar.numberOf(column('time')))) },
    filter: [subject.isPresent],
    groupBy: ['person'],
  });
  return step('people_with_gaps', extend(step('people', people), { gaps: fn.arrayDifference(alias('active')) }));
}

/**
 * People by period and status, encoded as one number: period index × number of statuses + status.
 * Codes below zero or after the last period are outside the range.
 */
function countCodes(people: Step, codeOf: (period: Expression) => Expression, codesEnd: Expression): Step {
  const [active, gaps] = [alias('active'), alias('gaps')];
  const codeOfActive = lambda(['period', 'gap', 'number'], (period, gap, number) => {
    const isNext = equals(gap, constant(1));
    const isFirst = equals(number, constant(1));
    const status = fn.multiIf(isFirst, indexOf('New'), isNext, indexOf('Returning'), indexOf('Resurrected'));
    return infix('+', codeOf(period), status);
  });
  const isLastOfSeveral = lambda(['period', 'next_gap'], (_, nextGap) => infix('!=', nextGap, constant(1)));
  const lastOnes = fn.arrayFilter(isLastOfSeveral, active, fn.arrayShiftLeft(gaps, constant(1)));
  const dormant = map(lastOnes, 'period', (period) =>
    infix('+', codeOf(infix('+', period, constant(1))), indexOf('Dormant')),
  );
  const codes = fn.arrayConcat(fn.arrayMap(codeOfActive, active, gaps, fn.arrayEnumerate(active)), dormant);
  const inRange = filter(codes, 'code', (code) => allOf([infix('>=', code, constant(0)), infix('<', code, codesEnd)]));
  const columns = { code: fn.arrayJoin(inRange), users: fn.count() };
  return step('people_by_code', select({ columns, from: people, groupBy: ['code'] }));
}

export function planLifecycle(query: ResolvedLifecycle, context: PlanContext): Plan {
  const { selection, timezone, order, unit, people } = query;
  if (people) return planLifecyclePeople(query, people, context);
  const { range } = selection;
  const calendar = calendarOf(query.period, timezone);
  const indexOfPeriod = (period: Expression): Expression => periodsSince(calendar, range.fromMs, period);
  const codeOf = (period: Expression): Expression => infix('*', indexOfPeriod(period), STATUS_COUNT);
  const last = indexOfPeriod(calendar.numberOf(instant(range.toMs - 1)));
  const codesEnd = infix('*', infix('+', last, constant(1)), STATUS_COUNT);

  const counted = countCodes(planPeople(query, calendar, context), codeOf, codesEnd);
  // Always one row, also without events, because every period and status must appear.
  const columns = { codes: fn.groupArray(alias('code')), counts: fn.groupArray(alias('users')) };
  const gathered = step('gathered', select({ columns, from: counted }));
  const code = alias('code');
  const status = element(textValues(STATUSES), infix('+', fn.modulo(code, STATUS_COUNT), constant(1)));
  return planAnswer({
    query,
    order,
    range,
    context,
    mode: 'lifecycle',
    ...(unit && { withoutUnit: planWithoutUnit(context, { unit, selection }) }),
    select: select({
      columns: {
        period: calendar.dateAfter(range.fromMs, fn.intDiv(code, STATUS_COUNT)),
        status,
        users: element(alias('counts'), fn.indexOf(alias('codes'), code)),
      },
      from: step('every_code', extend(gathered, { code: fn.arrayJoin(fn.range(codesEnd)) })),
      orderBy: [orderBy('code')],
    }),
    columns: [
      { name: 'period', type: 'date' },
      { name: 'status', type: 'nullable_text' },
      { name: 'users', type: 'number' },
    ],
  });
}
