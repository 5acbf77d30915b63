// Reference implementation of values: text form, numeric value, and comparison for any types.

import { toRfc3339 } from './calendar.js';
import type { PropertyValue } from './history.js';
import type { CompareOperator, Literal } from './question.js';

/** An instant, such as `session.start_time`. */
export interface Instant {
  readonly instant: number;
}
/** Undefined: the field is missing. */
export type Value = PropertyValue | Instant | undefined;

const DECIMAL = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;

/** Undefined for missing and null. */
export function textOf(value: Value): string | undefined {
  if (value === undefined || value === null) return undefined;
  return typeof value === 'object' ? toRfc3339(value.instant) : String(value);
}

/**
 * The number of a value, or of a numeric text. Reading: only decimal notation without spaces is a
 * number, so `inf`, `nan` and `0x10` are texts; a boolean is not a number.
 */
export function numberOf(value: Value): number | undefined {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && DECIMAL.test(value) ? Number(value) : undefined;
}

/** Present, not null and not empty. */
export const hasValue = (value: Value): boolean => value !== undefined && value !== null && value !== '';

export function equals(value: Value, literal: Literal): boolean {
  if (typeof value === 'object' && value !== null) return value.instant === Date.parse(String(literal));
  if (typeof literal === 'number') return numberOf(value) === literal;
  if (typeof literal === 'boolean') return value === literal || value === Number(literal) || value === String(literal);
  return textOf(value) === literal;
}

/** The positive operators; a missing value satisfies none of them. */
export function compares(value: Value, operator: CompareOperator, literal: Literal): boolean {
  switch (operator) {
    case '=':
      return equals(value, literal);
    case 'contains':
      return textOf(value)?.includes(String(literal)) ?? false;
    case 'starts with':
      return textOf(value)?.startsWith(String(literal)) ?? false;
    case 'ends with':
      return textOf(value)?.endsWith(String(literal)) ?? false;
    case '~': {
      const text = textOf(value);
      return text !== undefined && new RegExp(String(literal), 'u').test(text);
    }
    case '!=':
      return !compares(value, '=', literal);
    case 'not contains':
    case 'not starts with':
    case 'not ends with':
      return !compares(value, operator.slice('not '.length) as CompareOperator, literal);
    case '!~':
      return !compares(value, '~', literal);
    default: {
      const order = orderAgainst(value, literal);
      if (order === undefined) return false;
      if (operator === '<') return order < 0;
      if (operator === '<=') return order <= 0;
      return operator === '>' ? order > 0 : order >= 0;
    }
  }
}

/** Undefined when the two are not comparable. A numeric literal text is compared as a number. */
function orderAgainst(value: Value, literal: Literal): number | undefined {
  if (typeof value === 'object' && value !== null) return value.instant - Date.parse(String(literal));
  const wanted = numberOf(literal);
  if (wanted !== undefined) {
    const number = numberOf(value);
    return number === undefined ? undefined : number - wanted;
  }
  const text = textOf(value);
  return text === undefined ? undefined : compareText(text, String(literal));
}

/** By code point, which is also the order of the UTF-8 bytes. */
export function compareText(a: string, b: string): number {
  const left = Array.from(a);
  const right = Array.from(b);
  for (const [position, character] of left.entries()) {
    const other = right[position];
    if (other === undefined) return 1;
    if (character !== other) return (character.codePointAt(0) ?? 0) - (other.codePointAt(0) ?? 0);
  }
  return left.length - right.length;
}
