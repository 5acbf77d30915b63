// Plan of retention: one row per person with start and return periods, then one per cohort with people per period as an array,
// then one per cohort and period.
import type { EventSet, ResolvedQuery } from '../../analyze/resolved.js';
import { areOfTypes, isIn } from '../../conditions/plan-events.js';
import {
  type BreakdownPlan,
  element,
  eventMs,
  GROUP,
  hasIdentity,
  integer,
  mapEach,
  passThrough,
  planAnswer,
  planBreakdown,
  ratio,
} from '../../plan/behaviour.js';
import {
  alias,
  call,
  column,
  constant,
  infix,
  instantParameter,
  lambda,
  textParameter,
  tupleElement,
} from '../../plan/expressions.js';
import { actor, eventPosition } from '../../plan/field-expressions.js';
import type { Expression, OutputColumn, Plan, Select, SelectColumn } from '../../plan/plan.js';
import { type Calendar, calendarOf, periodsSince } from '../../time/calendar.js';
import { type PlanContext, scanEvents } from '../events/plan.js';
import type { RetentionQuery } from './analyze.js';

type ResolvedRetention = RetentionQuery & ResolvedQuery;

const ANY: EventSet = { name: '*', eventTypes: undefined, condition: undefined };

/** Periods 0 to 12. */
const PERIODS_MAX = 13;

interface Retention {
  readonly query: ResolvedRetention;
  readonly calendar: Calendar;
  readonly breakdown: BreakdownPlan | undefined;
}

/** Whether return events need no time check, because they are at or after the start or are the start itself. */
const startsReturn = ({ start, returning = ANY }: RetentionQuery): boolean =>
  (returning.eventTypes === undefined && returning.condition === undefined) || returning.name === start.name;

function planPeople({ query, calendar, breakdown }: Retention, context: PlanContext): Select {
  const { start, returning = ANY } = query;
  const isStart = isIn(start, context.projectId);
  // Not collected as pairs of time and period, which takes 1.5 times as long.
  const returns = startsReturn(query)
    ? call('groupUniqArray', calendar.numberOf(column('time')))
    : call('groupArrayIf', eventMs, isIn(returning, context.projectId));
  const columns: SelectColumn[] = [
    { alias: 'person', expression: actor },
    { alias: 'started', expression: call('minIf', eventMs, isStart) },
    { alias: 'returns', expression: returns },
  ];
  if (breakdown) {
    // Wrapped in a tuple, because argMin skips plain nulls.
    const earliest = call('argMinIf', call('tuple', breakdown.value), eventPosition, isStart);
    columns.push({ alias: GROUP, expression: tupleElement(earliest, 1) });
  }
  return {
    kind: 'select',
    columns,
    from: scanEvents(context, {
      selection: query.selection,
      reads: columns.map((of) => of.expression),
      filter: [...areOfTypes([start, returning]), hasIdentity],
    }),
    groupBy: ['person'],
    having: infix('>', call('countIf', isStart), constant(0)),
  };
}

/** Per period since the cohort's: whether the person returned. */
function planReturns({ query, calendar, breakdown }: Retention, people: Select): Select {
  const numberOf = (ms: Expression): Expression =>
    calendar.numberOf(call('fromUnixTimestamp64Milli', ms, textParameter('UTC')));
  const later = mapEach('arrayFilter', alias('returns'), (v) => infix('>=', v, alias('started')));
  const group = breakdown ? [GROUP] : [];
  const periods: Select = {
    kind: 'select',
    columns: [
      ...passThrough(...group),
      { alias: 'cohort', expression: numberOf(alias('started')) },
      { alias: 'periods', expression: startsReturn(query) ? alias('returns') : mapEach('arrayMap', later, numberOf) },
    ],
    from: people,
  };
  const isBack = call(
    'arrayMap',
    lambda(['n'], call('has', alias('periods'), infix('+', alias('cohort'), alias('n')))),
    call('range', integer(PERIODS_MAX)),
  );
  return {
    kind: 'select',
    columns: [
      ...passThrough(...group, 'cohort'),
      { alias: 'size', expression: call('count') },
      { alias: 'back', expression: call('sumForEach', isBack) },
    ],
    from: periods,
    groupBy: [...group, 'cohort'],
  };
}

function planRows({ query, calendar, breakdown }: Retention, cohorts: Select): Select {
  const { fromMs, toMs } = query.selection.range;
  const group = breakdown ? [GROUP] : [];
  const last = calendar.numberOf(instantParameter(toMs - 1));
  const reached = infix('+', infix('-', last, alias('cohort')), constant(1));
  const unfolded: Select = {
    kind: 'select',
    columns: [
      ...passThrough(...group, 'cohort', 'size', 'back'),
      { alias: 'n', expression: call('arrayJoin', call('range', call('least', integer(PERIODS_MAX), reached))) },
    ],
    from: cohorts,
  };
  const users: Expression = element(alias('back'), infix('+', alias('n'), constant(1)));
  return {
    kind: 'select',
    columns: [
      ...passThrough(...group),
      { alias: 'day', expression: calendar.dateAfter(fromMs, periodsSince(calendar, fromMs, alias('cohort'))) },
      ...passThrough('size', 'n'),
      { alias: 'users', expression: users },
      { alias: 'rate', expression: ratio(users, alias('size')) },
    ],
    from: unfolded,
    orderBy: [
      { expression: alias('cohort'), direction: 'asc' },
      ...(breakdown ? [{ expression: alias('size'), direction: 'desc' } as const, ...breakdown.order] : []),
      { expression: alias('n'), direction: 'asc' },
    ],
  };
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
  return planAnswer({
    query,
    order: query.order,
    range: query.selection.range,
    context,
    mode: 'retention',
    select: planRows(retention, planReturns(retention, planPeople(retention, context))),
    columns: [...(breakdown ? [breakdown.output] : []), ...COLUMNS],
  });
}
