// Plan of retention: one row per person with start and returns, then one per cohort with people per
// period as an array, then one per cohort and period.
import type { ResolvedQuery, TimeRange } from '../../analyze/resolved.js';
import { areOfTypes, isIn } from '../../conditions/plan-events.js';
import { idColumn } from '../../people/list-people.js';
import { type PlanContext, selectEvents } from '../../people/scan.js';
import { planWithoutUnit } from '../../people/without-unit.js';
import { orderBy, passThrough, planAnswer } from '../../plan/answer.js';
import { BREAKDOWN, type BreakdownPlan, eventMs, map, planBreakdown, ratio } from '../../plan/behaviour.js';
import { comparedColumns } from '../../plan/compared.js';
import { subjectOf } from '../../plan/distinct.js';
import {
  alias,
  anyOf,
  column,
  constant,
  type Expression,
  element,
  infix,
  instant,
  integer,
  tupleElement,
} from '../../plan/expressions.js';
import { eventPosition } from '../../plan/field-expressions.js';
import { fn } from '../../plan/functions.js';
import {
  type Columns,
  extend,
  type OutputColumn,
  type Plan,
  type Select,
  type Step,
  select,
  step,
} from '../../plan/plan.js';
import { calendarOf, periodsSince } from '../../time/calendar.js';
import { queryOver } from '../cohorts.js';
import { METRICS, type RetentionQuery } from './analyze.js';
import { type ComparedCohorts, joinCohorts, withEarlier } from './plan-compared.js';
import { planRetentionPeople } from './plan-people.js';
import { ANY, gatherReturns, isBackIn, type Periods, planReturns, planTotals, positionOf } from './plan-returns.js';

/** Periods 0 to 12, as Int64: `has` takes longer to compare smaller integers with periods. */
const PERIODS_MAX = integer(13);

interface Retention extends Periods {
  readonly query: RetentionQuery & ResolvedQuery;
  readonly breakdown: BreakdownPlan | undefined;
}

const groupOf = ({ breakdown }: Retention): readonly string[] => (breakdown ? [BREAKDOWN] : []);

/** One row per person who started in the range. */
function planPeople(retention: Retention, context: PlanContext): Step {
  const { query, breakdown } = retention;
  const { start, returning = ANY, selection, isFirstEver } = query;
  const { fromMs, toMs } = selection.range;
  const isStart = isIn(start, context.projectId);
  const subject = subjectOf(query.unit);
  // Wrapped in a tuple, because argMin skips plain nulls.
  const firstValue = breakdown && tupleElement(fn.argMinIf(fn.tuple(breakdown.value), eventPosition, isStart), 1);
  const columns: Columns = {
    person: subject.value,
    ...(query.people && idColumn),
    started: fn.minIf(eventMs, isStart),
    returns: gatherReturns(retention, context),
    ...(firstValue && { [BREAKDOWN]: firstValue }),
  };
  // Before the range, only start events matter: they exclude those who started earlier.
  const isRead = anyOf([infix('>=', column('time'), instant(fromMs)), isStart]);
  const rows = selectEvents(context, {
    selection: isFirstEver ? { ...selection, range: { fromMs: 0, toMs } } : selection,
    columns,
    filter: [...areOfTypes([start, returning]), ...(isFirstEver ? [isRead] : []), subject.isPresent],
    groupBy: ['person'],
    having: isFirstEver ? infix('>=', alias('started'), integer(fromMs)) : infix('>', fn.countIf(isStart), constant(0)),
  });
  return step('people', rows);
}

/** Per cohort: its size, and how many of it returned in each period. */
function planCohorts(retention: Retention, periods: Step): Select {
  const { windowMs, sum } = retention.query;
  const groupBy = [...groupOf(retention), 'cohort'];
  const isBack = map(fn.range(PERIODS_MAX), 'period', (period) => isBackIn(retention, period));
  const columns = {
    ...passThrough(...groupBy),
    size: fn.count(),
    returned: fn.sumForEach(isBack),
    ...(windowMs !== undefined && { first_start: fn.min(alias('started')), last_start: fn.max(alias('started')) }),
    ...(sum && { totals: fn.sumMap(alias('periods'), alias('amounts')) }),
  };
  return select({ columns, from: periods, groupBy });
}

/** Cohorts over a range. */
function planCohortsOver(retention: Retention, context: PlanContext, range: TimeRange): Select {
  const query = queryOver(retention.query, range, context);
  const over: Retention = { ...retention, query, breakdown: query.by && planBreakdown(query.by) };
  return planCohorts(over, planReturns(over, planPeople(over, context), groupOf(over)));
}

/**
 * How many periods of the cohort begin in the range: for periods of a length, those of its first
 * member.
 */
function planReached({ query, calendar }: Retention): Expression {
  const { windowMs, selection } = query;
  const lastMs = selection.range.toMs - 1;
  if (windowMs === undefined) {
    return infix('+', infix('-', calendar.numberAt(lastMs), alias('cohort')), constant(1));
  }
  return infix('+', fn.intDiv(infix('-', integer(lastMs), alias('first_start')), integer(windowMs)), constant(1));
}

/**
 * Whether the period goes on after the range, or is not over now: for periods of a length, that of
 * the last member.
 */
function planIsIncomplete({ query, calendar }: Retention, nowMs: number): Expression {
  const { windowMs, selection } = query;
  const endMs = Math.min(selection.range.toMs, nowMs);
  const period = alias('period');
  if (windowMs === undefined) return infix('>=', positionOf(query, period), calendar.numberAt(endMs));
  const length = infix('*', infix('+', period, constant(1)), integer(windowMs));
  return infix('>', infix('+', alias('last_start'), length), integer(endMs));
}

/** One row per cohort and period. */
function planRows(retention: Retention, { cohorts, earlier }: ComparedCohorts, { nowMs }: PlanContext): Select {
  const { query, calendar, breakdown } = retention;
  const { fromMs } = query.selection.range;
  const metrics = {
    cohort_size: alias('size'),
    period: alias('period'),
    users: element(alias('returned'), infix('+', alias('period'), constant(1))),
    rate: ratio(alias('users'), alias('cohort_size')),
  };
  const period = fn.arrayJoin(fn.range(fn.least(PERIODS_MAX, planReached(retention))));
  return select({
    columns: {
      ...passThrough(...groupOf(retention)),
      cohort_date: calendar.dateAfter(fromMs, periodsSince(calendar, fromMs, alias('cohort'))),
      ...(earlier ? withEarlier(metrics, calendar, earlier) : metrics),
      ...(query.sum && planTotals(query)),
      is_incomplete: planIsIncomplete(retention, nowMs),
    },
    from: step('cohorts_by_period', extend(step('cohorts', cohorts), { period })),
    orderBy: [
      orderBy('cohort'),
      ...(breakdown ? [orderBy('cohort_size', 'desc'), ...breakdown.order] : []),
      orderBy('period'),
    ],
  });
}

const COLUMNS: readonly OutputColumn[] = [
  { name: 'cohort', type: 'date' },
  { name: 'cohort_size', type: 'number' },
  { name: 'period', type: 'number' },
  { name: 'users', type: 'number' },
  { name: 'rate', type: 'rate' },
];

const [COHORT_DATE, ...OF_COHORT] = COLUMNS;
const COMPARED_COLUMNS: readonly OutputColumn[] = [
  ...(COHORT_DATE ? [COHORT_DATE] : []),
  { name: 'previous_cohort', type: 'date' },
  ...comparedColumns(OF_COHORT, METRICS),
];

const SUM_COLUMNS: readonly OutputColumn[] = [
  { name: 'total', type: 'number', isComputed: true },
  { name: 'cumulative', type: 'number', isComputed: true },
];

export function planRetention(query: Retention['query'], context: PlanContext): Plan {
  const breakdown = query.by && planBreakdown(query.by);
  const retention: Retention = { query, calendar: calendarOf(query.period, query.timezone), breakdown };
  if (query.people) {
    const returns = planReturns(retention, planPeople(retention, context), []);
    return planRetentionPeople({ ...retention, people: query.people, returns }, context);
  }
  const cohorts = planCohortsOver(retention, context, query.selection.range);
  const compared = query.earlier
    ? joinCohorts(retention, {
        cohorts,
        earlier: planCohortsOver(retention, context, query.earlier),
        range: query.earlier,
        groups: groupOf(retention),
      })
    : { cohorts, earlier: undefined };
  const groups = breakdown ? [breakdown.output] : [];
  const { unit, selection, start, returning = ANY, windowMs } = query;
  return planAnswer({
    query,
    order: query.order,
    range: selection.range,
    context,
    mode: 'retention',
    ...(unit && { withoutUnit: planWithoutUnit(context, { unit, selection, sets: [start, returning] }) }),
    select: planRows(retention, compared, context),
    columns: [...groups, ...(query.earlier ? COMPARED_COLUMNS : COLUMNS), ...(query.sum ? SUM_COLUMNS : [])],
    metadata: windowMs === undefined ? { granularity: query.period } : { window_seconds: windowMs / 1000 },
    incompleteBy: [...groups.map(({ name }) => name), 'cohort', 'period'],
  });
}
