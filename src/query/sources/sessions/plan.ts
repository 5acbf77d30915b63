// Plans of the source `sessions`: sessions that start in the range, each with all its events.
import type { ColumnOrder, EventSelection, ResolvedQuery, SessionRows } from '../../analyze/resolved.js';
import { planCondition } from '../../conditions/plan.js';
import { sessionKeysIn } from '../../people/joins.js';
import { describeSession, optional, peopleOfSession, selectSessions, widened } from '../../people/session-select.js';
import { alias, allOf, call, column, constant, equals, infix, instantParameter } from '../../plan/expressions.js';
import type { Expression, Plan, Select } from '../../plan/plan.js';
import { sessionColumnOf } from '../../session-fields.js';
import { bucketOf, fillOf } from '../../time/buckets.js';
import { aliasOrder, type PlanContext, pageOf, passThrough, type RowsOver, scanEvents } from '../events/plan.js';

type SessionsQuery = Extract<ResolvedQuery, { kind: 'sessions' }>;

interface SessionsOver {
  readonly rows: SessionRows;
  readonly selection: EventSelection;
  readonly reads: readonly Expression[];
}

const START_TIME = column('session_start_time');
const PEOPLE = 'actors';
/** Unique people over sessions. A session may have several people, before and after a sign-in. */
const COUNT_PEOPLE = call('uniqExactArray', alias(PEOPLE));

function selectStarted(context: PlanContext, { rows, selection, reads }: SessionsOver): Select {
  const { projectId } = context;
  const { range, condition } = selection;
  const span = widened(range);
  const starts: Expression[] = [
    infix('>=', START_TIME, instantParameter(range.fromMs)),
    infix('<', START_TIME, instantParameter(range.toMs)),
  ];
  const having = allOf(rows.condition ? [...starts, planCondition(rows.condition, projectId)] : starts);
  const keys = sessionKeysIn([...reads, having]);
  const isOfPeople = reads.includes(COUNT_PEOPLE);
  const matching: Expression = {
    kind: 'subselect',
    select: {
      kind: 'select',
      columns: [{ alias: 'session_id', expression: column('session_id') }],
      from: scanEvents(context, { selection: { ...selection, range: span }, reads: [] }),
    },
  };
  return selectSessions({
    projectId,
    span,
    columns: [
      ...keys.map((key) => ({
        alias: sessionColumnOf('session', key),
        expression: optional(key, describeSession(key)),
      })),
      ...(isOfPeople ? [{ alias: PEOPLE, expression: peopleOfSession }] : []),
    ],
    isStitched: isOfPeople,
    filter: condition ? [infix('IN', column('session_id'), matching)] : [],
    having,
  });
}

export const sessionRows = (rows: SessionRows, selection: EventSelection, context: PlanContext): RowsOver => ({
  time: START_TIME,
  from: (reads) => selectStarted(context, { rows, selection, reads }),
  people: COUNT_PEOPLE,
});

/** Average; null without rows, also on filled days. */
const average = (of: Expression): Expression => call('avg', call('toNullable', of));

export function planSessions(query: SessionsQuery, context: PlanContext): Plan {
  const { rows, selection, timezone, rowsMax } = query;
  const bucketing = { granularity: 'day', timezone } as const;
  const columns = [
    { alias: 'day', expression: bucketOf(START_TIME, bucketing) },
    { alias: 'sessions', expression: call('count') },
    { alias: 'avg_duration', expression: average(column('session_duration')) },
    { alias: 'avg_events', expression: average(column('session_event_count')) },
    { alias: 'bounce_rate', expression: average(equals(column('session_event_count'), constant(1))) },
  ];
  const days: Select = {
    kind: 'select',
    columns,
    from: selectStarted(context, { rows, selection, reads: columns.map((of) => of.expression) }),
    groupBy: ['day'],
    orderBy: [aliasOrder('day', 'asc')],
    fill: fillOf(selection.range, bucketing),
  };
  const page = pageOf(context, rowsMax);
  const byDay: ColumnOrder = { column: 'day', direction: 'asc' };
  // The second sort key makes ClickHouse sort and count filled rows (see the order of event groups).
  const order = [...query.order, byDay].map((of) => aliasOrder(of.column, of.direction));
  return {
    mode: 'sessions',
    select: {
      kind: 'select',
      columns: passThrough(days),
      from: days,
      orderBy: [...order, { expression: alias('sessions'), direction: 'desc' }],
      limit: page.limit,
      offset: page.offset,
    },
    columns: [
      { name: 'day', type: 'date' },
      { name: 'sessions', type: 'number' },
      { name: 'avg_duration', type: 'number' },
      { name: 'avg_events', type: 'number' },
      { name: 'bounce_rate', type: 'rate' },
    ],
    metric: undefined,
    total: { kind: 'engine', rowsMax },
    rowsKept: page.kept,
    range: selection.range,
    timezone,
    warnings: query.warnings,
  };
}
