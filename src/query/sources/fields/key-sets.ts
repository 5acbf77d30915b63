// Sets of property keys by type of value, as `fields` and `inspect` count them. Each event has its
// keys with their types as one text (ops/clickhouse/0007_property_types.sql), and few of these
// texts differ: events are counted by them, and then their keys, so that no property map is read.

import { PROPERTY_BAGS, type PropertyBag } from '../../fields.js';
import { filter, map } from '../../plan/behaviour.js';
import { alias, column, type Expression, integer, lambda, textValue } from '../../plan/expressions.js';
import { TYPE_LETTERS, typesOf } from '../../plan/field-expressions.js';
import { fn } from '../../plan/functions.js';
import { type Columns, extend, type Step, step } from '../../plan/plan.js';

export const BAGS = Object.keys(PROPERTY_BAGS) as PropertyBag[];

const typesName = (bag: PropertyBag): string => `types_of_${PROPERTY_BAGS[bag]}`;

/** The groups of events with the same keys and types. */
export const TYPES: Columns = Object.fromEntries(BAGS.map((bag) => [typesName(bag), column(typesOf(bag))]));

type Type = keyof typeof TYPE_LETTERS;
const keysName = (bag: PropertyBag, type: Type): string => `${PROPERTY_BAGS[bag]}_${type}_keys`;
const keysOf = (bag: PropertyBag, type: Type): Expression => alias(keysName(bag, type));

/** Keys with this type in a group of TYPES. */
function keysWith(bag: PropertyBag, type: Type): Expression {
  const parts = fn.splitByChar(textValue('|'), alias(typesName(bag)));
  const own = filter(parts, 'part', (part) => fn.startsWith(part, textValue(TYPE_LETTERS[type])));
  return map(own, 'part', (part) => fn.substring(part, integer(2)));
}

const TYPE_NAMES = Object.keys(TYPE_LETTERS) as Type[];

/** The groups of a step with their keys by type, escaped. */
export function withKeys(groups: Step): Step {
  const columns = BAGS.flatMap((bag) => TYPE_NAMES.map((type) => [keysName(bag, type), keysWith(bag, type)] as const));
  return step('events_by_keys', extend(groups, Object.fromEntries(columns)));
}

/** A key without its escapes. */
export const toKey = (escaped: string): string => escaped.replaceAll('%7C', '|').replaceAll('%25', '%');

/** Keys that are not among the others. */
export const without = (keys: Expression, others: Expression): Expression =>
  fn.arrayFilter(
    lambda(['key'], (key) => fn.not(fn.has(others, key))),
    keys,
  );

/**
 * Keys of a group by the type of their value: a number in a text is a text, and an empty text is
 * no value.
 */
export const keysByType = (bag: PropertyBag): Record<'text' | 'number' | 'boolean', Expression> => ({
  text: without(keysOf(bag, 'str'), keysOf(bag, 'empty')),
  number: without(keysOf(bag, 'num'), keysOf(bag, 'str')),
  boolean: keysOf(bag, 'bool'),
});

/** Keys of a group, also those with an empty text. */
export const allKeys = (bag: PropertyBag): Expression =>
  fn.arrayDistinct(fn.arrayConcat(keysOf(bag, 'str'), keysOf(bag, 'num'), keysOf(bag, 'bool')));

/** Occurrences per key over sets of keys, as two arrays. */
export const countKeys = (keys: Expression, events: Expression): Expression =>
  fn.sumMap(
    keys,
    map(keys, 'key', () => events),
  );
