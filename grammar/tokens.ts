// External tokenizer for cases beyond regular expressions: where a name ends before `->`, and
// whether a word is a keyword in this position.
import { ExternalTokenizer, type InputStream, type Stack } from '@lezer/lr';
import * as terms from './parser.terms.js';

const HYPHEN = 45;
const GREATER = 62;
const DOT = 46;
const DOUBLE_QUOTE = 34;
const SINGLE_QUOTE = 39;

const isNameStart = (code: number): boolean => (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code === 95;

/** Characters of a name after its first: also digits and `.:/$-`. */
const isNamePart = (code: number): boolean => isNameStart(code) || (code >= 45 && code <= 58) || code === 36;

/**
 * A name, ending before a `-` that starts an arrow; or the prefix of a quoted key, when a quote
 * follows its last dot.
 */
export const words = new ExternalTokenizer((input: InputStream) => {
  if (!isNameStart(input.next)) return;
  let last = input.next;
  while (isNamePart(input.next) && !(input.next === HYPHEN && input.peek(1) === GREATER)) {
    last = input.next;
    input.advance();
  }
  const isQuoteNext = input.next === DOUBLE_QUOTE || input.next === SINGLE_QUOTE;
  input.acceptToken(last === DOT && isQuoteNext ? terms.FieldPrefix : terms.Word);
});

/**
 * Terms of keywords begin with a lower-case letter; `_` precedes those that JavaScript reserves.
 */
const KEYWORDS: ReadonlyMap<string, number> = new Map(
  Object.entries(terms)
    .filter(([name]) => /^_?[a-z]/.test(name))
    .map(([name, term]) => [name.replace(/^_/, ''), term]),
);

const ANY_CASE_KEYWORDS: ReadonlySet<string> = new Set([
  'and',
  'or',
  'not',
  'in',
  'exists',
  'contains',
  'starts',
  'ends',
  'with',
  'asc',
  'desc',
]);

/**
 * A word is a keyword only where the grammar allows that keyword; elsewhere it is a name. So an
 * event may be called `last` and a column `users`; only an event named like a source must be
 * quoted.
 */
export function keyword(word: string, stack: Stack): number {
  const lower = word.toLowerCase();
  const term = KEYWORDS.get(ANY_CASE_KEYWORDS.has(lower) ? lower : word);
  return term !== undefined && stack.canShift(term) ? term : -1;
}
