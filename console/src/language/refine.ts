// A query with a further filter: what a click on a value of an answer means.
import { quoteText } from '../../../src/query/parse/strings.js';
import type { Cell } from '../api/answer.js';
import { chipsOf } from './chips.js';
import { replaceSpan } from './language.js';

/** Undefined where the query takes no filter. A value that is missing is asked for as such. */
export function withFilter(text: string, field: string, value: Cell): string | undefined {
  const insertion = chipsOf(text)?.insertions.filter;
  if (insertion === undefined) return undefined;
  const condition =
    value === null
      ? `${field} not exists`
      : `${field} = ${typeof value === 'number' || typeof value === 'boolean' ? String(value) : quoteText(String(value))}`;
  return replaceSpan(text, { from: insertion.at, to: insertion.at }, `${insertion.before}${condition}`);
}
