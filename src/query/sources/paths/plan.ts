// Plan of paths: first the anchor of each person, then the events joined to it within the window, so that memory is bounded by
// the events of paths.
import type { ResolvedField, ResolvedQuery } from '../../analyze/resolved.js';
import { isIn } from '../../conditions/plan-events.js';
import { eventMs, hasIdentity, integer, mapEach, passThrough, planAnswer } from '../../plan/behaviour.js';
import { alias, call, column, infix, textParameter, tupleElement } from '../../plan/expressions.js';
import { actor, isPresentField, readText, timeText } from '../../plan/field-expressions.js';
import type { Expression, Join, Plan, Select, SelectColumn } from '../../plan/plan.js';
import { type PlanContext, scanEvents } from '../events/plan.js';
import type { PathsQuery } from './analyze.js';

const NO_LABEL = textParameter('(none)');

function labelOf(field: ResolvedField): Expression {
  const { expression, type } = readText(field);
  const text = type === 'time' ? timeText(expression) : call('toString', expression);
  return call('if', isPresentField(field), type === 'nullable_text' ? call('ifNull', text, NO_LABEL) : text, NO_LABEL);
}

function planAnchors({ selection, direction }: PathsQuery, context: PlanContext): Select {
  const columns: SelectColumn[] = [
    { alias: 'anchor_person', expression: actor },
    { alias: 'anchor_ms', expression: call(direction === 'from' ? 'min' : 'max', eventMs) },
  ];
  return {
    kind: 'select',
    columns,
    from: scanEvents(context, { selection, reads: columns.map((of) => of.expression), filter: [hasIdentity] }),
    groupBy: ['anchor_person'],
  };
}

/** Tuple positions in a node; the positions before are its sort keys: time, insert_id, event type. */
const LABEL = 4;
const IS_ANCHOR = 5;

/**
 * Only the anchor's time is joined, because joined columns are copied to every event. The anchor is the first possible anchor
 * among the sorted nodes of that time.
 */
function planNodes(query: PathsQuery, context: PlanContext): Select {
  const anchorMs = alias('anchor_ms');
  const near =
    query.direction === 'from'
      ? [infix('>=', eventMs, anchorMs), infix('<=', eventMs, infix('+', anchorMs, integer(query.windowMs)))]
      : [infix('<=', eventMs, anchorMs), infix('>=', eventMs, infix('-', anchorMs, integer(query.windowMs)))];
  const filter = [hasIdentity, ...near];
  const isAnchor = isIn(query.selection, context.projectId);
  const node = call('tuple', eventMs, column('insert_id'), column('event_type'), labelOf(query.label), isAnchor);
  const columns: SelectColumn[] = [
    { alias: 'person', expression: actor },
    { alias: 'nodes', expression: call('groupArray', node) },
  ];
  const scan = scanEvents(context, {
    selection: { eventTypes: undefined, range: query.selection.range, condition: undefined },
    reads: columns.map((of) => of.expression),
    filter,
  });
  const anchors: Join = {
    name: 'anchors',
    select: planAnchors(query, context),
    left: actor,
    right: 'anchor_person',
    others: 'left out',
  };
  return {
    kind: 'select',
    columns,
    from: { ...scan, joins: [...(scan.joins ?? []), anchors] },
    groupBy: ['person'],
  };
}

export function planPaths(query: PathsQuery & ResolvedQuery, context: PlanContext): Plan {
  const depth = integer(query.depth);
  const sorted = call(query.direction === 'from' ? 'arraySort' : 'arrayReverseSort', alias('nodes'));
  const ordered: Select = {
    kind: 'select',
    columns: [{ alias: 'nodes', expression: sorted }],
    from: planNodes(query, context),
  };
  const anchor = mapEach('arrayFirstIndex', alias('nodes'), (v) => tupleElement(v, IS_ANCHOR));
  const kept = call('arraySlice', alias('nodes'), anchor, depth);
  const inOrder = query.direction === 'from' ? kept : call('arrayReverse', kept);
  const people: Select = {
    kind: 'select',
    columns: [{ alias: 'path', expression: mapEach('arrayMap', inOrder, (v) => tupleElement(v, LABEL)) }],
    from: ordered,
  };
  return planAnswer({
    query,
    order: query.order,
    range: query.selection.range,
    context,
    mode: 'paths',
    select: {
      kind: 'select',
      columns: [...passThrough('path'), { alias: 'users', expression: call('count') }],
      from: people,
      groupBy: ['path'],
      orderBy: [
        { expression: alias('users'), direction: 'desc' },
        { expression: alias('path'), direction: 'asc' },
      ],
    },
    columns: [
      { name: 'path', type: 'path' },
      { name: 'users', type: 'number' },
    ],
  });
}
