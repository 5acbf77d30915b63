// Plan of retention: one row per person with start and return periods, then one per cohort with people per period as an array,
// then one per cohort and period.
import type { EventSet, ResolvedQuery } from '../../analyze/resolved.js';
import { areOfTypes, isIn } from '../../conditions/plan-events.js';
import { type PlanContext, selectEvents } from '../../people/scan.js';
import { orderBy, passThrough, planAnswer } from '../../plan/answer.js';
import {
  BREAKDOWN,
  type BreakdownPlan,
  eventMs,
  filter,
  hasIdentity,
  map,
  planBreakdown,
  ratio,
} from '../../plan/behaviour.js';
import {
  alias,
  column,
  constant,
  type Expression,
  element,
  infix,
  instant,
  textValue,
  tupleElement,
} from '../../plan/expressions.js';
import { actor, eventPosition } from '../../plan/field-expressions.js';
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
import { type Calendar, calendarOf, periodsSince } from '../../time/calendar.js';
import type { RetentionQuery } from './analyze.js';

type ResolvedRetention = RetentionQuery & ResolvedQuery;

const ANY: EventSet = { name: '*', eventTypes: undefined, condition: undefined };

/** Periods 0 to 12. */
const PERIODS_MAX = constant(13);

interface Retention {
  readonly query: ResolvedRetention;
  readonly calendar: Calendar;
  readonly breakdown: BreakdownPlan | undefined;
}

/** Whether return events need no time check, because they are at or after the start or are the start itself. */
const startsReturn = ({ start, returning = ANY }: RetentionQuery): boolean =>
  (returning.eventTypes === undefined && returning.condition === undefined) || returning.name === start.name;

const groupOf = ({ breakdown }: Retention): readonly string[] => (breakdown ? [BREAKDOWN] : []);

function planPeople({ query, calendar, breakdown }: Retention, context: PlanContext): Step {
  const { start, returning = ANY } = query;
  const isStart = isIn(start, context.projectId);
  // Wrapped in a tuple, because argMin skips plain nulls.
  const firstValue = breakdown && tupleElement(fn.argMinIf(fn.tuple(breakdown.value), eventPosition, isStart), 1);
  const columns: Columns = {
    person: actor,
    started: fn.minIf(eventMs, isStart),
    // Not collected as pairs of time and period, which takes 1.5 times as long.
    returns: startsReturn(query)
      ? fn.groupUniqArray(calendar.numberOf(column('time')))
      : fn.groupArrayIf(eventMs, isIn(returning, context.projectId)),
    ...(firstValue && { [BREAKDOWN]: firstValue }),
  };
  const rows = selectEvents(context, {
    selection: query.selection,
    columns,
    filter: [...areOfTypes([start, returning]), hasIdentity],
    groupBy: ['person'],
    having: infix('>', fn.countIf(isStart), constant(0)),
  });
  return step('people', rows);
}

/** Per person: the periods of the start and of the returns, as numbers. */
function planPeriods(retention: Retention, people: Step): Step {
  const { query, calendar } = retention;
  const numberOf = (ms: Expression): Expression => calendar.numberOf(fn.fromUnixTimestamp64Milli(ms, textValue('UTC')));
  const later = filter(alias('returns'), 'time', (time) => infix('>=', time, alias('started')));
  const columns = {
    ...passThrough(...groupOf(retention)),
    cohort: numberOf(alias('started')),
    periods: startsReturn(query) ? alias('returns') : map(later, 'time', numberOf),
  };
  return step('periods_of_people', select({ columns, from: people }));
}

/** Per cohort: its size, and how many of it returned in each period. */
function planCohorts(retention: Retention, periods: Step): Step {
  const isBack = map(fn.range(PERIODS_MAX), 'period', (period) =>
    fn.has(alias('periods'), infix('+', alias('cohort'), period)),
  );
  const groupBy = [...groupOf(retention), 'cohort'];
  const columns = { ...passThrough(...groupBy), size: fn.count(), returned: fn.sumForEach(isBack) };
  return step('cohorts', select({ columns, from: periods, groupBy }));
}

/** One row per cohort and period. */
function planRows(retention: Retention, cohorts: Step): Select {
  const { query, calendar, breakdown } = retention;
  const { fromMs, toMs } = query.selection.range;
  const last = calendar.numberOf(instant(toMs - 1));
  const reached = infix('+', infix('-', last, alias('cohort')), constant(1));
  const period = fn.arrayJoin(fn.range(fn.least(PERIODS_MAX, reached)));
  return select({
    columns: {
      ...passThrough(...groupOf(retention)),
      cohort_date: calendar.dateAfter(fromMs, periodsSince(calendar, fromMs, alias('cohort'))),
      ...passThrough('size', 'period'),
      users: element(alias('returned'), infix('+', alias('period'), constant(1))),
      rate: ratio(alias('users'), alias('size')),
    },
    from: step('cohorts_by_period', extend(cohorts, { period })),
    orderBy: [
      orderBy('cohort'),
      ...(breakdown ? [orderBy('size', 'desc'), ...breakdown.order] : []),
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

export function planRetention(query: ResolvedRetention, context: PlanContext): Plan {
  const breakdown = query.by && planBreakdown(query.by);
  const retention: Retention = { query, calendar: calendarOf(query.period, query.timezone), breakdown };
  const cohorts = planCohorts(retention, planPeriods(retention, planPeople(retention, context)));
  return planAnswer({
    query,
    order: query.order,
    range: query.selection.range,
    context,
    mode: 'retention',
    select: planRows(retention, cohorts),
    columns: [...(breakdown ? [breakdown.output] : []), ...COLUMNS],
  });
}
