// Sets of property keys by type of value, as `fields` and `inspect` count them.

import { PROPERTY_BAGS, type PropertyBag } from '../../fields.js';
import { alias, call, column, lambda, not } from '../../plan/expressions.js';
import { bucket } from '../../plan/field-expressions.js';
import type { Expression, PropertyColumn, SelectColumn } from '../../plan/plan.js';

export const BAGS = Object.keys(PROPERTY_BAGS) as PropertyBag[];

// Few distinct sets of keys occur in many events: count the sets first, and then their keys. Lambdas over each event that
// look into another map take several times as long.

export const keysOf = (map: PropertyColumn): Expression => call('mapKeys', column(map));
export const valuesOf = (map: PropertyColumn): Expression => call('mapValues', column(map));

/** Keys whose values are numbers, not numbers in texts, which are in the text map too. */
export const withoutTexts = (numbers: Expression, texts: Expression): Expression =>
  call('arrayFilter', lambda(['k'], not(call('has', texts, alias('k')))), numbers);

/** Occurrences per key over sets of keys, as two arrays. */
export const countKeys = (keys: Expression, events: Expression): Expression =>
  call('sumMap', keys, call('arrayMap', lambda(['k'], events), keys));

type KeySet = `${'texts' | 'numbers' | 'booleans'}_of_${(typeof PROPERTY_BAGS)[PropertyBag]}`;

export const keySet = (bag: PropertyBag, kind: 'texts' | 'numbers' | 'booleans'): KeySet =>
  `${kind}_of_${PROPERTY_BAGS[bag]}`;

/** Keys of an event by value type. */
export function keySets(texts: (map: PropertyColumn) => Expression): SelectColumn[] {
  return BAGS.flatMap((bag) => [
    { alias: keySet(bag, 'texts'), expression: texts(bucket(bag, 'str')) },
    { alias: keySet(bag, 'numbers'), expression: keysOf(bucket(bag, 'num')) },
    { alias: keySet(bag, 'booleans'), expression: keysOf(bucket(bag, 'bool')) },
  ]);
}
