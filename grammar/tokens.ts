// External tokenizer for cases beyond regular expressions: where a name ends before `->`, and whether a word is a
// keyword in this position.
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

/** A name, ending before a `-` that starts an arrow; or the prefix of a quoted key, when a quote follows its last dot. */
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

const LOWER_CASE_KEYWORDS: ReadonlyMap<string, number> = new Map([
  ['funnel', terms.funnel],
  ['retention', terms.retention],
  ['paths', terms.paths],
  ['sessions', terms.sessions],
  ['lifecycle', terms.lifecycle],
  ['stickiness', terms.stickiness],
  ['user', terms.user],
  ['users', terms.users],
  ['formula', terms.formula],
  ['fields', terms.fields],
  ['inspect', terms.inspect],
  ['choice', terms.choice],
  ['exclude', terms.exclude],
  ['returning', terms.returning],
  ['as', terms.as],
  ['where', terms.where],
  ['last', terms.last],
  ['from', terms.from],
  ['to', terms.to],
  ['today', terms.today],
  ['yesterday', terms.yesterday],
  ['since', terms.since],
  ['this', terms._this],
  ['count', terms.count],
  ['unique', terms.unique],
  ['sum', terms.sum],
  ['avg', terms.avg],
  ['min', terms.min],
  ['max', terms.max],
  ['median', terms.median],
  ['p90', terms.p90],
  ['p95', terms.p95],
  ['p99', terms.p99],
  ['latest', terms.latest],
  ['per', terms.per],
  ['by', terms.by],
  ['of', terms.of],
  ['list', terms.list],
  ['sort', terms.sort],
  ['limit', terms.limit],
  ['top', terms.top],
  ['other', terms.other],
  ['window', terms.window],
  ['depth', terms.depth],
  ['results', terms.results],
  ['unit', terms.unit],
  ['true', terms._true],
  ['false', terms._false],
]);

const ANY_CASE_KEYWORDS: ReadonlyMap<string, number> = new Map([
  ['and', terms.and],
  ['or', terms.or],
  ['not', terms.not],
  ['in', terms._in],
  ['exists', terms.exists],
  ['contains', terms.contains],
  ['starts', terms.starts],
  ['ends', terms.ends],
  ['with', terms._with],
  ['asc', terms.asc],
  ['desc', terms.desc],
]);

/**
 * A word is a keyword only where the grammar allows that keyword; elsewhere it is a name. So an event may be called `last`
 * and a column `users`; only an event named like a source must be quoted.
 */
export function keyword(word: string, stack: Stack): number {
  const term = LOWER_CASE_KEYWORDS.get(word) ?? ANY_CASE_KEYWORDS.get(word.toLowerCase());
  return term !== undefined && stack.canShift(term) ? term : -1;
}
