// Cells of an answer, from the values that the engine returns: missing values become null, property
// maps become one object.
import { assertNever } from '../platform/errors.js';
import type { Cell } from './cell.js';
import { propertyName } from './parse/strings.js';
import type { ColumnType } from './plan/plan.js';
import { roundNumber } from './round-number.js';
import { toTopKeys, toTypes } from './sources/fields/present.js';

/** All rows after post-processing, before paging. */
export interface Presented {
  readonly rows: readonly (readonly Cell[])[];
  readonly extraFields?: Readonly<Record<string, unknown>>;
  readonly footnotes?: readonly string[];
}

export const roundComputed = (cell: Cell): Cell => (typeof cell === 'number' ? roundNumber(cell) : cell);

export function toCell(type: ColumnType, value: unknown): Cell {
  switch (type) {
    case 'text':
      return value === '' ? null : (value as Cell);
    case 'nullable_text':
    case 'number':
    case 'rate':
    case 'percent':
    case 'path':
    case 'time':
    case 'date':
      return (value ?? null) as Cell;
    case 'properties':
      return joinBuckets(value);
    case 'optional_properties':
      return Number((value as readonly unknown[]).at(-1)) === 0
        ? null
        : joinBuckets((value as readonly unknown[]).slice(0, -1));
    case 'typed_text':
      return toTyped(value as readonly [string | null, number]);
    case 'texts':
      return value as readonly string[];
    case 'top_keys':
      return toTopKeys(value);
    case 'type_counts':
      return toTypes(value);
    case 'property_name': {
      const [bag, key] = value as readonly [string, string];
      return propertyName(bag, key);
    }
    default:
      return assertNever(type);
  }
}

/** The text form of a value, and whether it is the form of a number or a boolean. */
function toTyped([text, isNoText]: readonly [string | null, number]): Cell {
  if (text === null || Number(isNoText) === 0) return text;
  return text === 'true' || text === 'false' ? text === 'true' : Number(text);
}

type Bucket = Readonly<Record<string, unknown>>;

/**
 * Sorted by key, so that equal properties look equal. Built from entries, because a key may be
 * `__proto__`. A numeric text is in both maps: sorting is stable and the last entry of a key wins,
 * which is the text.
 */
function joinBuckets(value: unknown): Readonly<Record<string, unknown>> {
  // A profile has no nulls.
  const [texts, numbers, booleans, nulls = []] = value as readonly [Bucket, Bucket, Bucket, (readonly string[])?];
  const entries: [string, unknown][] = [
    ...Object.entries(numbers),
    ...Object.entries(texts),
    ...Object.entries(booleans),
    ...nulls.map((key): [string, null] => [key, null]),
  ];
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
}
