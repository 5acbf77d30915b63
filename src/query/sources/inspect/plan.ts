// Plans of `inspect`: event types, or the properties of one.

import { assertNever } from '../../../platform/errors.js';
import type { ResolvedQuery } from '../../analyze/resolved.js';
import type { PropertyBag } from '../../fields.js';
import { hasIdentity, orderByColumns, passThrough } from '../../plan/behaviour.js';
import {
  alias,
  call,
  column,
  constant,
  equals,
  infix,
  lambda,
  not,
  parameter,
  textParameter,
  tupleElement,
} from '../../plan/expressions.js';
import { actor, bucket } from '../../plan/field-expressions.js';
import type { Expression, OutputColumn, Plan, Select, SelectColumn } from '../../plan/plan.js';
import { type PlanContext, pageOf, scanEvents } from '../events/plan.js';
import { BAGS, countKeys, keySet, keySets, keysOf, valuesOf, withoutTexts } from '../fields/key-sets.js';

type InspectQuery = Extract<ResolvedQuery, { kind: 'inspect' }>;

export const planInspect = (query: InspectQuery, context: PlanContext): Plan =>
  query.selection.eventTypes === undefined ? inspectTypes(query, context) : inspectProperties(query, context);

interface Inspection {
  readonly select: Select;
  readonly columns: readonly OutputColumn[];
}

function toPlan(query: InspectQuery, context: PlanContext, { select, columns }: Inspection): Plan {
  const page = pageOf(context, query.rowsMax);
  return {
    mode: 'inspect',
    select: {
      ...select,
      orderBy: orderByColumns(select, columns, query.order),
      limit: page.limit,
      offset: page.offset,
    },
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
    call('arrayConcat', ...(['texts', 'numbers', 'booleans'] as const).map((kind) => alias(keySet(bag, kind)))),
  );

/**
 * People are counted in a separate select: beside the sets of keys, the engine would keep their hashes per set.
 */
function inspectTypes(query: InspectQuery, context: PlanContext): Plan {
  const { selection } = query;
  const sets = keySets(keysOf);
  const grouped = (columns: readonly SelectColumn[]): Select => ({
    kind: 'select',
    columns,
    from: scanEvents(context, { selection, reads: columns.map((of) => of.expression) }),
    groupBy: ['name'],
  });
  const name = { alias: 'name', expression: column('event_type') };
  const zero = call('toUInt64', constant(0));
  const times: SelectColumn[] = [
    { alias: 'first_at', expression: call('min', column('time')) },
    { alias: 'last_at', expression: call('max', column('time')) },
  ];
  const people = grouped([
    name,
    { alias: 'with_keys', expression: zero },
    { alias: 'people', expression: call('uniqExactIf', actor, hasIdentity) },
    ...times,
    ...sets.map((of) => ({ alias: of.alias, expression: call('array') })),
  ]);
  const keys = grouped([
    name,
    { alias: 'with_keys', expression: call('count') },
    { alias: 'people', expression: zero },
    ...times,
    ...sets,
  ]);
  const select: Select = {
    kind: 'select',
    columns: [
      ...passThrough('name'),
      { alias: 'events', expression: call('sum', alias('with_keys')) },
      { alias: 'users', expression: call('sum', alias('people')) },
      { alias: 'first_seen', expression: call('min', alias('first_at')) },
      { alias: 'last_seen', expression: call('max', alias('last_at')) },
      {
        alias: 'top_properties',
        expression: call('tuple', ...BAGS.map((bag) => countKeys(allKeys(bag), alias('with_keys')))),
      },
    ],
    from: { kind: 'union', selects: [people, { ...keys, groupBy: ['name', ...sets.map((of) => of.alias)] }] },
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

const TYPES = ['string', 'number', 'boolean'] as const;
const KINDS = BAGS.flatMap((bag) => TYPES.map((type) => ({ bag, type })));

const numberOf = (kind: (typeof KINDS)[number]): Expression => parameter('UInt64', KINDS.indexOf(kind) + 1);
const TEXT_KINDS: Expression = { kind: 'list', items: KINDS.filter(({ type }) => type === 'string').map(numberOf) };

const noNumber = call('toFloat64', constant(0));

/** Every stored property of an event: kind (from 1), key, text, and number or boolean as a number. */
const items = call(
  'arrayConcat',
  ...KINDS.map((kind) => {
    const { bag, type } = kind;
    const item = (text: Expression, number: Expression): Expression =>
      lambda(['k', 'v'], call('tuple', numberOf(kind), alias('k'), text, number));
    const texts = keysOf(bucket(bag, 'str'));
    const isNoText = lambda(['v', 'k'], not(call('has', texts, alias('k'))));
    const [numbers, booleans] = [bucket(bag, 'num'), bucket(bag, 'bool')];
    switch (type) {
      case 'string':
        return call('arrayMap', item(alias('v'), noNumber), texts, valuesOf(bucket(bag, 'str')));
      case 'number':
        return call(
          'arrayMap',
          item(constant(''), alias('v')),
          withoutTexts(keysOf(numbers), texts),
          call('arrayFilter', isNoText, valuesOf(numbers), keysOf(numbers)),
        );
      case 'boolean':
        return call(
          'arrayMap',
          item(constant(''), call('toFloat64', alias('v'))),
          keysOf(booleans),
          valuesOf(booleans),
        );
      default:
        return assertNever(type);
    }
  }),
);

/** Occurrences of each property value and type, without empty texts. */
function countValues(query: InspectQuery, context: PlanContext): Select {
  const item = call('arrayJoin', items);
  const parts = ['kind', 'key', 'text', 'number'].map((name, index) => ({
    alias: `item_${name}`,
    expression: tupleElement(alias('item'), index + 1),
  }));
  // Count stored values before converting them, because values repeat.
  const counted: Select = {
    kind: 'select',
    columns: [...parts, { alias: 'times', expression: call('count') }],
    from: {
      kind: 'select',
      columns: [{ alias: 'item', expression: item }],
      from: scanEvents(context, { selection: query.selection, reads: [item] }),
    },
    groupBy: parts.map((of) => of.alias),
    having: infix('OR', infix('!=', alias('item_text'), constant('')), infix('NOT IN', alias('item_kind'), TEXT_KINDS)),
  };
  const ofKind = (name: 'bag' | 'type'): Expression =>
    call('arrayElement', call('array', ...KINDS.map((kind) => textParameter(kind[name]))), alias('item_kind'));
  const [text, number, type] = [alias('item_text'), alias('item_number'), alias('type')];
  const form = call(
    'multiIf',
    equals(type, textParameter('number')),
    call('toString', number),
    equals(type, textParameter('boolean')),
    call('if', equals(number, constant(1)), constant('true'), constant('false')),
    text,
  );
  return {
    kind: 'select',
    columns: [
      { alias: 'property', expression: call('tuple', ofKind('bag'), call('toString', alias('item_key'))) },
      { alias: 'type', expression: ofKind('type') },
      { alias: 'text', expression: form },
      { alias: 'events', expression: alias('times') },
    ],
    from: counted,
  };
}

const SAMPLES = 5;

function inspectProperties(query: InspectQuery, context: PlanContext): Plan {
  const { selection } = query;
  const total: Expression = {
    kind: 'subselect',
    select: {
      kind: 'select',
      columns: [{ alias: 'events', expression: call('count') }],
      from: scanEvents(context, { selection, reads: [] }),
    },
  };
  const [type, text, events] = [alias('type'), alias('text'), alias('events')];
  const share = infix('/', call('sum', events), total);
  const select: Select = {
    kind: 'select',
    columns: [
      ...passThrough('property'),
      { alias: 'coverage', expression: infix('*', share, parameter('Float64', 100)) },
      { alias: 'types', expression: call('sumMap', call('array', type), call('array', events)) },
      { alias: 'different', expression: call('uniqExact', text) },
      {
        alias: 'samples',
        expression: call('arraySort', {
          kind: 'call',
          name: 'topKWeighted',
          settings: [SAMPLES],
          arguments: [text, events],
        }),
      },
    ],
    from: countValues(query, context),
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
