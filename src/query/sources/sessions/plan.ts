// Plans of the source `sessions`: sessions that start in the range, each with all its events.
import type { ColumnOrder, EventSelection, ResolvedQuery, SessionRows, TimeRange } from '../../analyze/resolved.js';
import { overRange } from '../../conditions/calls.js';
import { planCondition } from '../../conditions/plan.js';
import { sessionKeysIn } from '../../people/joins.js';
import { type PlanContext, selectEvents } from '../../people/scan.js';
import {
  describeSession,
  peopleOfSession,
  selectSessions,
  sessionColumns,
  widened,
} from '../../people/session-select.js';
import { orderBy, passThrough, planAnswer } from '../../plan/answer.js';
import {
  comparedColumns,
  comparedValues,
  earlierBucket,
  joinRanges,
  type Position,
  positionOf,
} from '../../plan/compared.js';
import {
  alias,
  allOf,
  bound,
  column,
  constant,
  type Expression,
  equals,
  infix,
  isOneOf,
  partsOf,
  rowsOf,
} from '../../plan/expressions.js';
import { fillBuckets } from '../../plan/fill.js';
import { fn } from '../../plan/functions.js';
import { type OutputColumn, type Plan, type Select, type Step, select, step } from '../../plan/plan.js';
import { bucketOf } from '../../time/buckets.js';
import type { AggregatedRows } from '../events/plan.js';
import { METRICS } from './analyze.js';

type SessionsQuery = Extract<ResolvedQuery, { kind: 'sessions' }>;

interface SessionsOver {
  readonly rows: SessionRows;
  readonly selection: EventSelection;
  readonly reads: readonly Expression[];
}

const START_TIME = column('session_start_time');
const PEOPLE = 'people';

function planStarted(context: PlanContext, { rows, selection, reads }: SessionsOver): Step {
  const { projectId } = context;
  const { range, condition } = selection;
  const span = widened(range);
  const starts: Expression[] = [
    infix('>=', START_TIME, bound(range.fromMs)),
    infix('<', START_TIME, bound(range.toMs)),
  ];
  const having = allOf(rows.condition ? [...starts, planCondition(rows.condition, projectId)] : starts);
  const readsPeople = [...partsOf(reads)].some((part) => part.kind === 'alias' && part.alias === PEOPLE);
  const matching = selectEvents(context, {
    selection: { ...selection, range: span },
    columns: { session_id: column('session_id') },
  });
  const sessions = selectSessions({
    projectId,
    span,
    columns: {
      ...sessionColumns('session', sessionKeysIn([...reads, having]), describeSession),
      ...(readsPeople && { [PEOPLE]: peopleOfSession }),
    },
    filter: condition ? [isOneOf(column('session_id'), rowsOf(matching))] : [],
    having,
  });
  return step('sessions', sessions);
}

export const sessionRows = (rows: SessionRows, selection: EventSelection, context: PlanContext): AggregatedRows => ({
  time: START_TIME,
  from: (reads) => planStarted(context, { rows, selection, reads }),
  // A session may have several people, before and after a sign-in.
  people: fn.uniqExactArray(alias(PEOPLE)),
});

/** Average; null without rows, also on filled days. */
const average = (of: Expression): Expression => fn.avg(fn.toNullable(of));

export function planSessions(query: SessionsQuery, context: PlanContext): Plan {
  const { rows, selection, earlier, timezone } = query;
  const bucketing = { granularity: 'day', timezone } as const;
  const columns = {
    day: bucketOf(START_TIME, bucketing),
    sessions: fn.count(),
    avg_duration: average(column('session_duration')),
    avg_events: average(column('session_event_count')),
    bounce_rate: average(equals(column('session_event_count'), constant(1))),
  };
  const daysOver = (range: TimeRange): Select =>
    select({
      columns,
      from: planStarted(context, { rows, selection: overRange(selection, range), reads: Object.values(columns) }),
      groupBy: ['day'],
    });
  const current = daysOver(selection.range);
  const position = earlier && positionOf('day', { current: selection.range, earlier }, bucketing);
  const days = position ? compareDays(current, daysOver(earlier), position) : current;
  const byDay: ColumnOrder = { column: 'day', direction: 'asc' };
  // The second sort key makes ClickHouse sort and count filled rows (see the order of event
  // groups).
  const order = [...query.order, byDay].map((of) => orderBy(of.column, of.direction));
  return planAnswer({
    query,
    range: selection.range,
    context,
    mode: 'sessions',
    select: select({
      columns: position
        ? { ...passThrough('day'), previous_day: earlierBucket(position), ...comparedValues(METRICS, position) }
        : passThrough(...Object.keys(columns)),
      from: step('days', fillBuckets(days, 'day', { range: selection.range, ...bucketing })),
      orderBy: [...order, orderBy('sessions', 'desc')],
    }),
    columns: position ? COMPARED_COLUMNS : COLUMNS,
  });
}

const compareDays = (current: Select, earlier: Select, position: Position): Select =>
  joinRanges({
    current,
    earlier,
    keys: ['day'],
    position,
    values: { sessions: 'zero', avg_duration: 'null', avg_events: 'null', bounce_rate: 'null' },
  });

const DAY: OutputColumn = { name: 'day', type: 'date' };
const OF_DAY: readonly OutputColumn[] = [
  { name: 'sessions', type: 'number' },
  { name: 'avg_duration', type: 'number', isComputed: true },
  { name: 'avg_events', type: 'number', isComputed: true },
  { name: 'bounce_rate', type: 'rate' },
];
const COLUMNS = [DAY, ...OF_DAY];
const COMPARED_COLUMNS = [DAY, { name: 'previous_day', type: 'date' } as const, ...comparedColumns(OF_DAY, METRICS)];
