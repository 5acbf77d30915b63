// Plan of `lifecycle`: the status of each person in each period.
import type { ResolvedQuery } from '../../analyze/resolved.js';
import { type PlanContext, selectEvents } from '../../people/scan.js';
import { planWithoutUnit } from '../../people/without-unit.js';
import { orderBy, passThrough, planAnswer } from '../../plan/answer.js';
import { BREAKDOWN, type BreakdownPlan, filter, map, planBreakdown } from '../../plan/behaviour.js';
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
  integer,
  lambda,
  textValues,
} from '../../plan/expressions.js';
import { fn } from '../../plan/functions.js';
import { extend, type Plan, type Step, select, step } from '../../plan/plan.js';
import { type Calendar, calendarOf, periodsSince } from '../../time/calendar.js';
import { findPartialBuckets, type PartialBuckets } from '../../time/partial-buckets.js';
import type { LifecycleQuery } from './analyze.js';
import { STATUSES } from './people.js';
import { planLifecyclePeople } from './plan-people.js';

type ResolvedLifecycle = LifecycleQuery & ResolvedQuery;

const STATUS_COUNT = constant(4);
const indexOf = (status: (typeof STATUSES)[number]): Expression => integer(STATUSES.indexOf(status));

interface Lifecycle {
  readonly query: ResolvedLifecycle;
  readonly calendar: Calendar;
  readonly breakdown: BreakdownPlan | undefined;
}

const groupOf = ({ breakdown }: Lifecycle): readonly string[] => (breakdown ? [BREAKDOWN] : []);

/** The last period may extend beyond the range, by at most a month. */
const PERIOD_MAX_MS = 32 * 86_400_000;

/**
 * One row per person: the active periods in order, and the distance of each from the one before.
 */
function planPeople(lifecycle: Lifecycle, context: PlanContext): Step {
  const { query, calendar, breakdown } = lifecycle;
  const { selection, unit } = query;
  // `New` depends on all earlier events, so the scan has no lower bound.
  const range = { fromMs: 0, toMs: selection.range.toMs + PERIOD_MAX_MS };
  const subject = subjectOf(unit);
  const people = selectEvents(context, {
    selection: { ...selection, range },
    columns: {
      person: subject.value,
      ...(breakdown && { [BREAKDOWN]: breakdown.value }),
      active: fn.arraySort(fn.groupUniqArray(calendar.numberOf(column('time')))),
    },
    filter: [subject.isPresent],
    groupBy: ['person', ...groupOf(lifecycle)],
  });
  return step('people_with_gaps', extend(step('people', people), { gaps: fn.arrayDifference(alias('active')) }));
}

interface Codes {
  readonly codeOf: (period: Expression) => Expression;
  readonly codesEnd: Expression;
  readonly groups: readonly string[];
}

/**
 * People by period and status, encoded as one number: period index × number of statuses + status.
 * Codes below zero or after the last period are outside the range.
 */
function countCodes(people: Step, { codeOf, codesEnd, groups }: Codes): Step {
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
  const columns = { ...passThrough(...groups), code: fn.arrayJoin(inRange), users: fn.count() };
  return step('people_by_code', select({ columns, from: people, groupBy: [...groups, 'code'] }));
}

/** Periods are whole, whatever the range: only the present can cut one. */
function partialOf({ period, timezone }: ResolvedLifecycle, nowMs: number): PartialBuckets | undefined {
  const now = { fromMs: nowMs, toMs: nowMs };
  const partial = findPartialBuckets([{ name: period, type: 'date' }], now, { timezone, nowMs, isFirstWhole: true });
  return partial && { ...partial, column: 'period' };
}

export function planLifecycle(query: ResolvedLifecycle, context: PlanContext): Plan {
  const { selection, timezone, order, unit, people, by } = query;
  if (people) return planLifecyclePeople(query, people, context);
  const { range } = selection;
  const calendar = calendarOf(query.period, timezone);
  const lifecycle: Lifecycle = { query, calendar, breakdown: by && planBreakdown(by) };
  const { breakdown } = lifecycle;
  const groups = groupOf(lifecycle);
  const indexOfPeriod = (period: Expression): Expression => periodsSince(calendar, range.fromMs, period);
  const codeOf = (period: Expression): Expression => infix('*', indexOfPeriod(period), STATUS_COUNT);
  const last = indexOfPeriod(calendar.numberAt(range.toMs - 1));
  const codesEnd = infix('*', infix('+', last, constant(1)), STATUS_COUNT);

  const counted = countCodes(planPeople(lifecycle, context), { codeOf, codesEnd, groups });
  // Every period and status must appear: without groups one row, also without events.
  const columns = {
    ...passThrough(...groups),
    codes: fn.groupArray(alias('code')),
    counts: fn.groupArray(alias('users')),
  };
  const gathered = step('gathered', select({ columns, from: counted, groupBy: groups }));
  const code = alias('code');
  const indexOfCode = fn.intDiv(code, STATUS_COUNT);
  const status = element(textValues(STATUSES), infix('+', fn.modulo(code, STATUS_COUNT), constant(1)));
  const partial = partialOf(query, context.nowMs);
  const plan = planAnswer({
    query,
    order,
    range,
    context,
    mode: 'lifecycle',
    ...(unit && { withoutUnit: planWithoutUnit(context, { unit, selection }) }),
    select: select({
      columns: {
        ...passThrough(...groups),
        period: calendar.dateAfter(range.fromMs, indexOfCode),
        status,
        users: element(alias('counts'), fn.indexOf(alias('codes'), code)),
      },
      from: step('every_code', extend(gathered, { code: fn.arrayJoin(fn.range(codesEnd)) })),
      orderBy: [...(breakdown ? [orderBy(indexOfCode), ...breakdown.order] : []), orderBy('code')],
    }),
    columns: [
      ...(breakdown ? [breakdown.output] : []),
      { name: 'period', type: 'date' },
      { name: 'status', type: 'nullable_text' },
      { name: 'users', type: 'number' },
    ],
  });
  return { ...plan, ...(partial && { partial }) };
}
