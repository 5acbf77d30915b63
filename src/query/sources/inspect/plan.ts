// Plans of `inspect`: event types, or the properties of one.

import { assertNever } from '../../../platform/errors.js';
import type { ResolvedQuery } from '../../analyze/resolved.js';
import { type PlanContext, selectEvents } from '../../people/scan.js';
import { orderBy, passThrough, planAnswer } from '../../plan/answer.js';
import { hasIdentity } from '../../plan/behaviour.js';
import {
  alias,
  anyOf,
  column,
  constant,
  type Expression,
  element,
  equals,
  infix,
  integer,
  lambda,
  list,
  type PropertyColumn,
  rowsOf,
  textValue,
  tupleElement,
} from '../../plan/expressions.js';
import { bucket, person, typesOf } from '../../plan/field-expressions.js';
import { fn, heaviest } from '../../plan/functions.js';
import { type Columns, type OutputColumn, type Plan, type Select, type Step, select, step } from '../../plan/plan.js';
import { allKeys, BAGS, countKeys, TYPES, withKeys, without } from '../fields/key-sets.js';

type InspectQuery = Extract<ResolvedQuery, { kind: 'inspect' }>;

export const planInspect = (query: InspectQuery, context: PlanContext): Plan =>
  query.selection.eventTypes === undefined ? inspectTypes(query, context) : inspectProperties(query, context);

/** Rows of the answer with their default order. */
interface Inspection {
  readonly select: Select;
  readonly columns: readonly OutputColumn[];
}

const toPlan = (query: InspectQuery, context: PlanContext, { select, columns }: Inspection): Plan =>
  planAnswer({
    query,
    order: query.order,
    range: query.selection.range,
    context,
    mode: 'inspect',
    select,
    columns,
  });

// ---- Event types ----

/**
 * People are counted in a separate select: beside the sets of keys, the engine would keep their
 * hashes per set.
 */
function inspectTypes(query: InspectQuery, context: PlanContext): Plan {
  const { selection } = query;
  const zero = fn.toUInt64(constant(0));
  const name = column('event_type');
  const times: Columns = { first_at: fn.min(column('time')), last_at: fn.max(column('time')) };
  const noKeys = Object.fromEntries(Object.keys(TYPES).map((name) => [name, constant('')]));
  const people = selectEvents(context, {
    selection,
    columns: { name, with_keys: zero, people: fn.uniqExactIf(person, hasIdentity), ...times, ...noKeys },
    groupBy: ['name'],
  });
  const keys = selectEvents(context, {
    selection,
    columns: { name, with_keys: fn.count(), people: zero, ...times, ...TYPES },
    groupBy: ['name', ...Object.keys(TYPES)],
  });
  return toPlan(query, context, {
    select: select({
      columns: {
        ...passThrough('name'),
        events: fn.sum(alias('with_keys')),
        users: fn.sum(alias('people')),
        first_seen: fn.min(alias('first_at')),
        last_seen: fn.max(alias('last_at')),
        top_properties: fn.tuple(...BAGS.map((bag) => countKeys(allKeys(bag), alias('with_keys')))),
      },
      from: withKeys(step('people_and_types', { kind: 'union', selects: [people, keys] })),
      groupBy: ['name'],
      orderBy: [orderBy('events', 'desc'), orderBy('name')],
    }),
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

// ---- Properties of a type ----

const KINDS = BAGS.flatMap((bag) => (['string', 'number', 'boolean'] as const).map((type) => ({ bag, type })));

const numberOf = (kind: (typeof KINDS)[number]): Expression => integer(KINDS.indexOf(kind) + 1);
const TEXT_KINDS: Expression = list(KINDS.filter(({ type }) => type === 'string').map(numberOf));

const keysOf = (map: PropertyColumn): Expression => fn.mapKeys(column(map));
const valuesOf = (map: PropertyColumn): Expression => fn.mapValues(column(map));

const noText = constant('');
const noNumber = fn.toFloat64(constant(0));

/**
 * The properties of one kind, each as a tuple: kind (from 1), key, text, and number or boolean as a
 * number.
 */
function itemsOf(kind: (typeof KINDS)[number]): Expression {
  const { bag, type } = kind;
  const item = (read: (value: Expression) => readonly [text: Expression, number: Expression]): Expression =>
    lambda(['key', 'value'], (key, value) => fn.tuple(numberOf(kind), key, ...read(value)));
  const [texts, numbers, booleans] = [bucket(bag, 'str'), bucket(bag, 'num'), bucket(bag, 'bool')];
  switch (type) {
    case 'string':
      return fn.arrayMap(
        item((value) => [value, noNumber]),
        keysOf(texts),
        valuesOf(texts),
      );
    case 'number': {
      const isNoText = lambda(['value', 'key'], (_, key) => fn.not(fn.has(keysOf(texts), key)));
      return fn.arrayMap(
        item((value) => [noText, value]),
        without(keysOf(numbers), keysOf(texts)),
        fn.arrayFilter(isNoText, valuesOf(numbers), keysOf(numbers)),
      );
    }
    case 'boolean':
      return fn.arrayMap(
        item((value) => [noText, fn.toFloat64(value)]),
        keysOf(booleans),
        valuesOf(booleans),
      );
    default:
      return assertNever(type);
  }
}

type Bag = (typeof BAGS)[number];

/** The properties of these kinds; events without any are not read. */
const itemsIn = (bags: readonly Bag[], { selection }: InspectQuery, context: PlanContext): Select =>
  selectEvents(context, {
    selection,
    columns: { item: fn.arrayJoin(fn.arrayConcat(...KINDS.filter(({ bag }) => bags.includes(bag)).map(itemsOf))) },
    filter: [anyOf(bags.map((bag) => infix('!=', column(typesOf(bag)), textValue('|'))))],
  });

/**
 * Occurrences of each property value and type, without empty texts. Two scans read less than one,
 * because most events have no user properties; a condition may join, and is planned once.
 */
function planValues(query: InspectQuery, context: PlanContext): Step {
  const scans = query.selection.condition ? [BAGS] : BAGS.map((bag) => [bag]);
  const selects = scans.map((bags) => itemsIn(bags, query, context));
  const [only] = selects;
  const items = only && selects.length === 1 ? only : ({ kind: 'union', selects } as const);
  const parts: Columns = {
    item_kind: tupleElement(alias('item'), 1),
    item_key: tupleElement(alias('item'), 2),
    item_text: tupleElement(alias('item'), 3),
    item_number: tupleElement(alias('item'), 4),
  };
  // Count stored values before converting them, because values repeat.
  const counted = select({
    columns: { ...parts, times: fn.count() },
    from: step('items', items),
    groupBy: Object.keys(parts),
    having: infix('OR', infix('!=', alias('item_text'), noText), infix('NOT IN', alias('item_kind'), TEXT_KINDS)),
  });
  const ofKind = (name: 'bag' | 'type'): Expression =>
    element(fn.array(...KINDS.map((kind) => textValue(kind[name]))), alias('item_kind'));
  const [number, type] = [alias('item_number'), alias('type')];
  const text = fn.multiIf(
    equals(type, textValue('number')),
    fn.toString(number),
    equals(type, textValue('boolean')),
    fn.if(equals(number, constant(1)), constant('true'), constant('false')),
    alias('item_text'),
  );
  const values = select({
    columns: {
      property: fn.tuple(ofKind('bag'), fn.toString(alias('item_key'))),
      type: ofKind('type'),
      text,
      events: alias('times'),
    },
    from: step('counted_items', counted),
  });
  return step('property_values', values);
}

const SAMPLES = 5;

function inspectProperties(query: InspectQuery, context: PlanContext): Plan {
  const { selection } = query;
  const total = rowsOf(selectEvents(context, { selection, columns: { events: fn.count() } }));
  const [type, text, events] = [alias('type'), alias('text'), alias('events')];
  const share = infix('/', fn.sum(events), total);
  return toPlan(query, context, {
    select: select({
      columns: {
        ...passThrough('property'),
        coverage: infix('*', share, constant(100)),
        types: fn.sumMap(fn.array(type), fn.array(events)),
        different: fn.uniqExact(text),
        samples: fn.arraySort(heaviest(SAMPLES, text, events)),
      },
      from: planValues(query, context),
      groupBy: ['property'],
      orderBy: [orderBy('coverage', 'desc'), orderBy('property')],
    }),
    columns: [
      { name: 'property', type: 'property_name' },
      { name: 'coverage', type: 'percent' },
      { name: 'types', type: 'type_counts' },
      { name: 'distinct', type: 'number' },
      { name: 'samples', type: 'texts' },
    ],
  });
}
