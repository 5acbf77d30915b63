// Plan of paths: first the anchor of each person, then the events joined to it within the window,
// so that memory is bounded by the events of paths.
import type { ResolvedField, ResolvedQuery } from '../../analyze/resolved.js';
import { hasCall } from '../../conditions/calls.js';
import { isIn } from '../../conditions/plan-events.js';
import { type PlanContext, selectEvents } from '../../people/scan.js';
import { planWithoutUnit } from '../../people/without-unit.js';
import { orderBy, passThrough, planAnswer } from '../../plan/answer.js';
import { BREAKDOWN, eventMs, map, planBreakdown } from '../../plan/behaviour.js';
import { subjectOf } from '../../plan/distinct.js';
import {
  alias,
  column,
  type Expression,
  equals,
  infix,
  integer,
  lambda,
  textValue,
  tupleElement,
} from '../../plan/expressions.js';
import { isPresentField, readText, timeText } from '../../plan/field-expressions.js';
import { fn } from '../../plan/functions.js';
import { type Join, type Plan, type Step, select, step } from '../../plan/plan.js';
import type { PathsQuery } from './analyze.js';

const NO_LABEL = textValue('(none)');

function labelOf(field: ResolvedField): Expression {
  const { expression, type } = readText(field);
  const text = type === 'time' ? timeText(expression) : fn.toString(expression);
  return fn.if(isPresentField(field), type === 'nullable_text' ? fn.ifNull(text, NO_LABEL) : text, NO_LABEL);
}

/** The order of events, which tells each from all others. */
const EVENT_KEY = fn.tuple(eventMs, column('insert_id'), column('event_type'));

/**
 * Conditions with calls would be computed twice: their anchors are joined with their whole key
 * instead.
 */
const isJoinedByKey = ({ selection }: PathsQuery): boolean => hasCall(selection.condition);

function planAnchors(query: PathsQuery, context: PlanContext): Step {
  const { selection, direction, unit, by } = query;
  const subject = subjectOf(unit);
  const atFirst = direction === 'from' ? fn.argMin : fn.argMax;
  const first = direction === 'from' ? fn.min : fn.max;
  const rows = selectEvents(context, {
    selection,
    columns: {
      anchor_person: subject.value,
      anchor_ms: first(eventMs),
      ...(isJoinedByKey(query) && { anchor_key: first(EVENT_KEY) }),
      ...(by && { anchor_breakdown: atFirst(planBreakdown(by).value, EVENT_KEY) }),
    },
    filter: [subject.isPresent],
    groupBy: ['anchor_person'],
  });
  return step('anchors', rows);
}

const groupOf = ({ by }: PathsQuery): readonly string[] => (by ? [BREAKDOWN] : []);

/**
 * A node is a tuple: its sort keys (time, insert_id, event type), its label, and whether it is an
 * anchor.
 */
const labelOfNode = (node: Expression): Expression => tupleElement(node, 4);
const isAnchorNode = (node: Expression): Expression => tupleElement(node, 5);

/**
 * Only the anchor's time is joined, because joined columns are copied to every event. The anchor is
 * the first possible anchor among the sorted nodes of that time.
 */
function planNodes(query: PathsQuery, context: PlanContext): Step {
  const anchorMs = alias('anchor_ms');
  const subject = subjectOf(query.unit);
  const window = integer(query.windowMs);
  const near =
    query.direction === 'from'
      ? [infix('>=', eventMs, anchorMs), infix('<=', eventMs, infix('+', anchorMs, window))]
      : [infix('<=', eventMs, anchorMs), infix('>=', eventMs, infix('-', anchorMs, window))];
  const isAnchor = isJoinedByKey(query)
    ? equals(EVENT_KEY, alias('anchor_key'))
    : isIn(query.selection, context.projectId);
  const node = fn.tuple(eventMs, column('insert_id'), column('event_type'), labelOf(query.label), isAnchor);
  const anchors: Join = {
    step: planAnchors(query, context),
    left: subject.value,
    right: 'anchor_person',
    others: 'left out',
  };
  const rows = selectEvents(context, {
    selection: { eventTypes: undefined, range: query.selection.range, condition: undefined },
    columns: {
      person: subject.value,
      ...(query.by && { [BREAKDOWN]: alias('anchor_breakdown') }),
      nodes: fn.groupArray(node),
    },
    filter: [subject.isPresent, ...near],
    joins: [anchors],
    groupBy: ['person', ...groupOf(query)],
  });
  return step('nodes_of_people', rows);
}

export function planPaths(query: PathsQuery & ResolvedQuery, context: PlanContext): Plan {
  const { direction, selection, order, unit } = query;
  const breakdown = query.by && planBreakdown(query.by);
  const groups = groupOf(query);
  const nodes = alias('nodes');
  const sorted = direction === 'from' ? fn.arraySort(nodes) : fn.arrayReverseSort(nodes);
  const columns = { ...passThrough(...groups), nodes: sorted };
  const ordered = step('sorted_nodes', select({ columns, from: planNodes(query, context) }));
  const anchor = fn.arrayFirstIndex(lambda(['node'], isAnchorNode), nodes);
  const kept = fn.arraySlice(nodes, anchor, integer(query.depth));
  const path = map(direction === 'from' ? kept : fn.arrayReverse(kept), 'node', labelOfNode);
  return planAnswer({
    query,
    order,
    range: selection.range,
    context,
    mode: 'paths',
    ...(unit && { withoutUnit: planWithoutUnit(context, { unit, selection }) }),
    select: select({
      columns: { ...passThrough(...groups, 'path'), users: fn.count() },
      from: step('paths', select({ columns: { ...passThrough(...groups), path }, from: ordered })),
      groupBy: [...groups, 'path'],
      orderBy: [orderBy('users', 'desc'), orderBy('path'), ...(breakdown?.order ?? [])],
    }),
    columns: [
      ...(breakdown ? [breakdown.output] : []),
      { name: 'path', type: 'path' },
      { name: 'users', type: 'number' },
    ],
    metadata: { window_seconds: query.windowMs / 1000 },
  });
}
