// Paths: the anchor of each person first, then, joined to it, only the events near it. So no more is held in memory than
// what can be part of a path.
import type { PathsQuery, ResolvedField, ResolvedQuery } from '../analyze/resolved.js';
import { carry, eventMs, integer, isSomebody, over, planAnswer } from './behaviour.js';
import { type PlanContext, scanEvents } from './events.js';
import { alias, call, column, constant, infix, textParameter, tupleElement } from './expressions.js';
import { actor, isPresentField, readText } from './field-expressions.js';
import type { Expression, Plan, Select, SelectColumn } from './plan.js';

const NO_LABEL = textParameter('(none)');

/** Events of one time are in the order of their insert_ids, which are unique within a type. */
const POSITION = call('tuple', eventMs, column('insert_id'), column('event_type'));

function labelOf(field: ResolvedField): Expression {
  const { expression, type } = readText(field);
  const text = call('toString', expression);
  return call('if', isPresentField(field), type === 'nullable_text' ? call('ifNull', text, NO_LABEL) : text, NO_LABEL);
}

function planAnchors({ selection, direction }: PathsQuery, context: PlanContext): Select {
  const columns: SelectColumn[] = [
    { alias: 'anchor_person', expression: actor },
    { alias: 'anchor', expression: call(direction === 'from' ? 'min' : 'max', POSITION) },
  ];
  return {
    kind: 'select',
    columns,
    from: scanEvents(context, { selection, reads: columns.map((of) => of.expression), filter: [isSomebody] }),
    groupBy: ['anchor_person'],
  };
}

function planNodes(query: PathsQuery, context: PlanContext): Select {
  const isForwards = query.direction === 'from';
  const anchorMs = tupleElement(alias('anchor'), 1);
  // A person without an anchor has one at 1970, which no event is near to.
  const near = isForwards
    ? [infix('>=', POSITION, alias('anchor')), infix('<=', eventMs, infix('+', anchorMs, integer(query.windowMs)))]
    : [infix('<=', POSITION, alias('anchor')), infix('>=', eventMs, infix('-', anchorMs, integer(query.windowMs)))];
  const filter = [isSomebody, infix('>', anchorMs, constant(0)), ...near];
  const node = call('tuple', eventMs, column('insert_id'), column('event_type'), labelOf(query.label));
  const columns: SelectColumn[] = [
    { alias: 'person', expression: actor },
    { alias: 'nodes', expression: call('groupArray', node) },
  ];
  const scan = scanEvents(context, {
    selection: { eventType: undefined, range: query.selection.range, condition: undefined },
    reads: columns.map((of) => of.expression),
    filter,
  });
  const anchors = { name: 'anchors', select: planAnchors(query, context), left: actor, right: 'anchor_person' };
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
  const kept = call('arraySlice', sorted, constant(1), depth);
  const inOrder = query.direction === 'from' ? kept : call('arrayReverse', kept);
  const people: Select = {
    kind: 'select',
    columns: [{ alias: 'path', expression: over('arrayMap', inOrder, (v) => tupleElement(v, 4)) }],
    from: planNodes(query, context),
  };
  return planAnswer({
    query,
    range: query.selection.range,
    context,
    mode: 'paths',
    select: {
      kind: 'select',
      columns: [...carry('path'), { alias: 'users', expression: call('count') }],
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
