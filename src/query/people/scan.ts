// Selects over events: the scan of a selection with the joins that the read columns need.
import type { ProjectId } from '../../platform/ids.js';
import type { EventSelection, TimeRange } from '../analyze/resolved.js';
import { hashesOfPeople, planCondition } from '../conditions/plan.js';
import { isOfType } from '../conditions/plan-events.js';
import type { Expression } from '../plan/expressions.js';
import { type Columns, type EventScan, type Join, type ScanTime, type Select, select, step } from '../plan/plan.js';
import { behaviourIn } from './behaviour.js';
import { scanWithDevices } from './devices.js';
import { joinsFor } from './joins.js';

/** What a plan needs to know besides the query. */
export interface PlanContext {
  readonly projectId: ProjectId;
  readonly limit: number;
  readonly offset: number;
  readonly nowMs: number;
}

interface ScanParts {
  readonly selection: EventSelection;
  /** Expressions over the scan's rows; they decide what is joined. */
  readonly reads: readonly Expression[];
  /** Instead of the selection's range. */
  readonly time?: ScanTime;
  /** Additional filter. */
  readonly filter?: readonly Expression[];
  /** Additional joins. */
  readonly joins?: readonly Join[];
}

export function scanEvents(context: PlanContext, parts: ScanParts): EventScan {
  const { projectId } = context;
  const { selection, reads, time = exactly(selection.range), joins = [] } = parts;
  const { eventTypes, condition, range } = selection;
  const filter: Expression[] = [...(parts.filter ?? [])];
  if (eventTypes) filter.push(isOfType(eventTypes));
  if (condition) filter.push(planCondition(condition, projectId));
  const span = spanOf([range, ...time.ranges]);
  const read = [...reads, ...filter];
  const joined = [...joinsFor(read, { ...context, span, eventTypes }), ...joinBehaviour(context, read), ...joins];
  const people = condition && hashesOfPeople(condition, projectId);
  return scanWithDevices({ projectId, time, filter, reads, joins: joined, people });
}

/** Joins the values of the calls that are read, one scan for each key. */
export const joinBehaviour = (context: PlanContext, reads: readonly Expression[]): Join[] =>
  behaviourIn(reads, context.projectId).map(
    ({ key, keyName, ...of }): Join => ({
      step: step('behaviour', selectEvents(context, { ...of, groupBy: [keyName] })),
      left: key,
      right: keyName,
      others: 'kept',
    }),
  );

interface EventSelect extends Omit<ScanParts, 'reads'> {
  readonly columns: Columns;
  readonly groupBy?: readonly string[];
  readonly having?: Expression;
}

/** Columns over the events of a selection. */
export function selectEvents(context: PlanContext, { columns, groupBy, having, ...scanned }: EventSelect): Select {
  return select({
    columns,
    from: scanEvents(context, { ...scanned, reads: Object.values(columns) }),
    ...(groupBy && { groupBy }),
    ...(having && { having }),
  });
}

/** Ranges that do not overlap; adjacent ones are scanned as one. */
export function exactly(...ranges: readonly TimeRange[]): ScanTime {
  const joined: TimeRange[] = [];
  for (const range of ranges.toSorted((one, two) => one.fromMs - two.fromMs)) {
    const last = joined.at(-1);
    if (last?.toMs === range.fromMs) joined.splice(-1, 1, { fromMs: last.fromMs, toMs: range.toMs });
    else joined.push(range);
  }
  return { kind: 'exact', ranges: joined };
}

/** Range that covers all of these. */
const spanOf = (ranges: readonly TimeRange[]): TimeRange => ({
  fromMs: Math.min(...ranges.map(({ fromMs }) => fromMs)),
  toMs: Math.max(...ranges.map(({ toMs }) => toMs)),
});
