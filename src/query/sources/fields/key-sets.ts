// Sets of property keys by type of value, as `fields` and `inspect` count them.

import { PROPERTY_BAGS, type PropertyBag } from '../../fields.js';
import { map } from '../../plan/behaviour.js';
import { column, type Expression, lambda, type PropertyColumn } from '../../plan/expressions.js';
import { bucket } from '../../plan/field-expressions.js';
import { fn } from '../../plan/functions.js';
import type { Columns } from '../../plan/plan.js';

export const BAGS = Object.keys(PROPERTY_BAGS) as PropertyBag[];

// Few distinct sets of keys occur in many events: count the sets first, and then their keys.
// Lambdas over each event that look into another map take several times as long.

export const keysOf = (map: PropertyColumn): Expression => fn.mapKeys(column(map));
export const valuesOf = (map: PropertyColumn): Expression => fn.mapValues(column(map));

/** Keys whose values are numbers, not numbers in texts, which are in the text map too. */
export const withoutTexts = (numbers: Expression, texts: Expression): Expression =>
  fn.arrayFilter(
    lambda(['key'], (key) => fn.not(fn.has(texts, key))),
    numbers,
  );

/** Occurrences per key over sets of keys, as two arrays. */
export const countKeys = (keys: Expression, events: Expression): Expression =>
  fn.sumMap(
    keys,
    map(keys, 'key', () => events),
  );

type KeySet = `${'texts' | 'numbers' | 'booleans'}_of_${(typeof PROPERTY_BAGS)[PropertyBag]}`;

export const keySet = (bag: PropertyBag, kind: 'texts' | 'numbers' | 'booleans'): KeySet =>
  `${kind}_of_${PROPERTY_BAGS[bag]}`;

/** Keys of an event by value type. */
export const keySets = (texts: (map: PropertyColumn) => Expression): Columns =>
  Object.fromEntries(
    BAGS.flatMap((bag) => [
      [keySet(bag, 'texts'), texts(bucket(bag, 'str'))],
      [keySet(bag, 'numbers'), keysOf(bucket(bag, 'num'))],
      [keySet(bag, 'booleans'), keysOf(bucket(bag, 'bool'))],
    ]),
  );
