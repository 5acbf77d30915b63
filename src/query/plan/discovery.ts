// Plans for `fields` and `inspect`: event types, properties, and how many events have them.

import type { ResolvedField, ResolvedQuery } from '../analyze/resolved.js';
import { DISTINCT_ID, EVENT_FIELD_NAMES, findEventField, PROPERTY_BAGS, type PropertyBag } from '../fields.js';
import { isSomebody } from './behaviour.js';
import { type PlanContext, pageOf, scanEvents } from './events.js';
import {
  alias,
  call,
  column,
  constant,
  infix,
  lambda,
  not,
  parameter,
  textParameter,
  tupleElement,
} from './expressions.js';
import { actor, bucket, isPresentField } from './field-expressions.js';
import type { Expression, OutputColumn, Plan, PropertyColumn, Select, SelectColumn } from './plan.js';

type Discovery = Extract<ResolvedQuery, { kind: 'fields' | 'inspect' }>;

const BAGS = Object.keys(PROPERTY_BAGS) as PropertyBag[];

// ---- Properties, each in one bucket ----

const keysOf = (map: Expression): Expression => call('mapKeys', map);
const valuesOf = (map: Expression): Expression => call('mapValues', map);

/** Numbers themselves, without the numbers in texts, which are in the other bucket as well. */
const numbersOnly = (bag: PropertyBag): Expression =>
  call(
    'mapFilter',
    lambda(['k', 'v'], not(call('mapContains', column(bucket(bag, 'str')), alias('k')))),
    column(bucket(bag, 'num')),
  );

const textsOnly = (bag: PropertyBag): Expression =>
  call('mapFilter', lambda(['k', 'v'], infix('!=', alias('v'), constant(''))), column(bucket(bag, 'str')));

const one: Expression = call('toUInt64', constant(1));

/** How often each key occurs, as two arrays. */
const countKeys = (keys: Expression): Expression => call('sumMap', keys, call('arrayMap', lambda(['k'], one), keys));

// ---- fields ----

const fieldNamed = (name: string): ResolvedField => {
  const field = findEventField(name);
  return field ? { kind: 'column', name, field } : { kind: 'distinct_id', name: DISTINCT_ID };
};

/**
 * One row with all counts, which the answer is put together from: the events, one count for each field, the keys of both
 * bags by type, and the keys of profiles by type.
 */
export function planFields(query: Discovery, context: PlanContext): Plan {
  const { selection, rowsMax } = query;
  const counts = EVENT_FIELD_NAMES.map((name) => call('countIf', isPresentField(fieldNamed(name))));
  const columns: SelectColumn[] = [
    { alias: 'total', expression: call('count') },
    { alias: 'in_sessions', expression: call('countIf', infix('!=', column('session_id'), constant(''))) },
    { alias: 'counts', expression: call('array', ...counts) },
    ...BAGS.flatMap((bag) => {
      const maps = [textsOnly(bag), numbersOnly(bag), column(bucket(bag, 'bool'))];
      return maps.map((map, index) => ({
        alias: `${PROPERTY_BAGS[bag]}_${index}`,
        expression: countKeys(keysOf(map)),
      }));
    }),
    ...(['props_str', 'props_num', 'props_bool'] as const).map((map) => ({
      alias: `${map}_keys`,
      expression: profileKeys(context, map),
    })),
  ];
  const page = pageOf(context, rowsMax);
  return {
    mode: 'fields',
    select: {
      kind: 'select',
      columns,
      from: scanEvents(context, { selection, reads: columns.map((of) => of.expression) }),
    },
    columns: [
      { name: 'field', type: 'text' },
      { name: 'type', type: 'text' },
      { name: 'category', type: 'text' },
      { name: 'events', type: 'number' },
      { name: 'coverage', type: 'percent' },
    ],
    metric: undefined,
    presentation: { kind: 'fields' },
    total: { kind: 'engine', rowsMax },
    rowsKept: page.kept,
    range: selection.range,
    timezone: query.timezone,
    warnings: query.warnings,
  };
}

const profileKeys = ({ projectId }: PlanContext, map: PropertyColumn): Expression => ({
  kind: 'subselect',
  select: {
    kind: 'select',
    columns: [{ alias: 'keys', expression: call('groupUniqArrayArray', keysOf(column(map))) }],
    from: { kind: 'profiles', projectId, filter: [] },
  },
});

// ---- inspect ----

export const planInspect = (query: Discovery, context: PlanContext): Plan =>
  query.selection.eventType === undefined ? inspectTypes(query, context) : inspectProperties(query, context);

interface Inspection {
  readonly select: Select;
  readonly columns: readonly OutputColumn[];
}

function toPlan(query: Discovery, context: PlanContext, { select, columns }: Inspection): Plan {
  const page = pageOf(context, query.rowsMax);
  return {
    mode: 'inspect',
    select: { ...select, limit: page.limit, offset: page.offset },
    columns,
    metric: undefined,
    total: { kind: 'engine', rowsMax: query.rowsMax },
    rowsKept: page.kept,
    range: query.selection.range,
    timezone: query.timezone,
    warnings: query.warnings,
  };
}

const allKeys = (bag: PropertyBag): Expression =>
  call(
    'arrayDistinct',
    call('arrayConcat', ...(['str', 'num', 'bool'] as const).map((kind) => keysOf(column(bucket(bag, kind))))),
  );

function inspectTypes(query: Discovery, context: PlanContext): Plan {
  const { selection } = query;
  const columns: SelectColumn[] = [
    { alias: 'name', expression: column('event_type') },
    { alias: 'events', expression: call('count') },
    { alias: 'users', expression: call('uniqExactIf', actor, isSomebody) },
    { alias: 'first_seen', expression: call('min', column('time')) },
    { alias: 'last_seen', expression: call('max', column('time')) },
    { alias: 'top_properties', expression: call('tuple', ...BAGS.map((bag) => countKeys(allKeys(bag)))) },
  ];
  const select: Select = {
    kind: 'select',
    columns,
    from: scanEvents(context, { selection, reads: columns.map((of) => of.expression) }),
    groupBy: ['name'],
    orderBy: [
      { expression: alias('events'), direction: 'desc' },
      { expression: alias('name'), direction: 'asc' },
    ],
  };
  return toPlan(query, context, {
    select,
    columns: [
      { name: 'event_type', type: 'text' },
      { name: 'count', type: 'number' },
      { name: 'users', type: 'number' },
      { name: 'first_seen', type: 'time' },
      { name: 'last_seen', type: 'time' },
      { name: 'top_properties', type: 'top_keys' },
    ],
  });
}

/** Every property of an event that has a value: its bag, its key, its type and its text form. */
function itemsOf(bag: PropertyBag): Expression[] {
  const items = (type: string, map: Expression, text: Expression): Expression =>
    call(
      'arrayMap',
      lambda(['k', 'v'], call('tuple', textParameter(bag), call('toString', alias('k')), textParameter(type), text)),
      keysOf(map),
      valuesOf(map),
    );
  return [
    items('string', textsOnly(bag), alias('v')),
    items('number', numbersOnly(bag), call('toString', alias('v'))),
    items('boolean', column(bucket(bag, 'bool')), call('if', alias('v'), constant('true'), constant('false'))),
  ];
}

const SAMPLES = 5;

function inspectProperties(query: Discovery, context: PlanContext): Plan {
  const { selection } = query;
  const item = call('arrayJoin', call('arrayConcat', ...BAGS.flatMap(itemsOf)));
  const [bag, key, type, text] = [1, 2, 3, 4].map((position) => tupleElement(alias('item'), position));
  if (!bag || !key || !type || !text) throw new Error('an item has four parts');
  const total: Expression = {
    kind: 'subselect',
    select: {
      kind: 'select',
      columns: [{ alias: 'events', expression: call('count') }],
      from: scanEvents(context, { selection, reads: [] }),
    },
  };
  const share = infix('/', call('count'), total);
  const select: Select = {
    kind: 'select',
    columns: [
      { alias: 'property', expression: call('tuple', bag, key) },
      { alias: 'coverage', expression: infix('*', share, parameter('Float64', 100)) },
      { alias: 'types', expression: call('sumMap', call('array', type), call('array', one)) },
      { alias: 'different', expression: call('uniqExact', text) },
      {
        alias: 'samples',
        expression: call('arraySort', { kind: 'call', name: 'topK', settings: [SAMPLES], arguments: [text] }),
      },
    ],
    from: {
      kind: 'select',
      columns: [{ alias: 'item', expression: item }],
      from: scanEvents(context, { selection, reads: [item] }),
    },
    groupBy: ['property'],
    orderBy: [
      { expression: alias('coverage'), direction: 'desc' },
      { expression: alias('property'), direction: 'asc' },
    ],
  };
  return toPlan(query, context, {
    select,
    columns: [
      { name: 'property', type: 'property_name' },
      { name: 'coverage', type: 'percent' },
      { name: 'types', type: 'type_counts' },
      { name: 'distinct', type: 'number' },
      { name: 'samples', type: 'texts' },
    ],
  });
}
