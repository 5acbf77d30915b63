// Filters of rows by numbers that the answer shows with 13 digits (round-number.ts): the sum of 0.1
// and 0.7 is 0.7999999999999999 and is shown as 0.8, so `where total = 0.8` keeps its row.
import { COMPUTED_DIGITS, roundNumber } from '../round-number.js';
import type { Condition, Literal } from './resolved.js';

type Order = Extract<Condition, { kind: 'order' }>;
type NumberLiteral = Extract<Literal, { kind: 'number' }>;

/** The power of ten of the first digit: 0 for 7, 1 for 10, -1 for 0.7. */
const exponentOf = (number: number): number => Number(number.toExponential().split('e')[1]);

/** Half a unit of the last digit that an answer shows of a number of this size. */
const halfUnit = (number: number): number => 0.5 * 10 ** (exponentOf(number) - COMPUTED_DIGITS + 1);

/** From here on an answer shows all digits of a whole number. */
const WHOLE_MIN = 10 ** COMPUTED_DIGITS;
/** Below, half a unit of the last digit is too small for an exact double. */
const SIZE_MIN = 1e-290;

/**
 * The bounds of the numbers that are shown as this one: at least the first, less than the second.
 * Undefined where the number itself is compared: zero, tiny and large numbers, and numbers with
 * more digits than are shown.
 */
function shownAs(number: number): readonly [number, number] | undefined {
  const size = Math.abs(number);
  if (size < SIZE_MIN || size >= WHOLE_MIN || roundNumber(number) !== number) return undefined;
  // A number just below a power of ten has one more decimal.
  const [inner, outer] = [size - halfUnit(size * (1 - Number.EPSILON)), size + halfUnit(size)];
  return number > 0 ? [inner, outer] : [-outer, -inner];
}

const numberOf = (value: number): NumberLiteral => ({ kind: 'number', value, text: String(value) });

function orderAsShown({ field, operator, value }: Order): Condition {
  const bounds = value.kind === 'number' ? shownAs(value.value) : undefined;
  if (bounds === undefined) return { kind: 'order', field, operator, value };
  const [from, to] = bounds;
  const bound = operator === '>' || operator === '<=' ? to : from;
  return { kind: 'order', field, operator: operator.startsWith('>') ? '>=' : '<', value: numberOf(bound) };
}

function equalAsShown(field: Order['field'], value: Literal): Condition {
  const bounds = value.kind === 'number' ? shownAs(value.value) : undefined;
  if (bounds === undefined) return { kind: 'one_of', field, values: [value] };
  const [from, to] = bounds;
  return {
    kind: 'and',
    items: [
      { kind: 'order', field, operator: '>=', value: numberOf(from) },
      { kind: 'order', field, operator: '<', value: numberOf(to) },
    ],
  };
}

/** Compares the columns of these names as they are shown. */
export function asShown(condition: Condition, names: readonly string[]): Condition {
  switch (condition.kind) {
    case 'and':
    case 'or':
      return { ...condition, items: condition.items.map((item) => asShown(item, names)) };
    case 'not':
      return { ...condition, item: asShown(condition.item, names) };
    case 'order':
      return names.includes(condition.field.name) ? orderAsShown(condition) : condition;
    case 'one_of': {
      const { field, values } = condition;
      if (!names.includes(field.name)) return condition;
      const items = values.map((value) => equalAsShown(field, value));
      return items.length === 1 && items[0] !== undefined ? items[0] : { kind: 'or', items };
    }
    default:
      return condition;
  }
}
