// Linear scan of the text before parsing. The parser's error recovery tries several continuations
// at each unexpected token, and searches the end of a string from each quote; this scan finds where
// parsing should stop instead.
import type { QueryProblem, Span } from '../errors.js';
import { FORM_LIMITS } from '../limits.js';

export interface Scan {
  /** Start offsets of the tokens, without comments. */
  readonly starts: readonly number[];
  /** The problem after which the rest of the text is not parsed. */
  readonly stop: QueryProblem | undefined;
}

// A comment, a closed string, a word, a number with its unit, `||`, or one character.
const TOKEN = /#[^\n\r]*|"(?:[^"\\]|\\[\s\S])*"|'(?:[^'\\]|\\[\s\S])*'|[A-Za-z_][\w.:/$-]*|\d[\w.:+-]*|\|\||[^\s\w]/gu;

// The list of `in` adds a level to the parentheses around its condition.
const DEPTH_MAX = FORM_LIMITS.nesting.max + 1;

export function scan(text: string): Scan {
  const starts: number[] = [];
  let depth = 0;
  let negations = 0;
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    if (token.startsWith('#')) continue;
    if (token === '"' || token === "'") return { starts, stop: unclosedString(text, index) };
    starts.push(index);
    if (token === '(' || token === '[') depth++;
    else if (token === ')' || token === ']') depth = Math.max(0, depth - 1);
    negations = token.toLowerCase() === 'not' ? negations + 1 : 0;
    if (Math.max(depth, negations) > DEPTH_MAX) return { starts, stop: tooDeep({ from: index, to: index + 1 }) };
  }
  return { starts, stop: undefined };
}

interface Part extends Span {
  /** Of the pipe behind it, or of the text. */
  readonly end: number;
}

/** The source and the stages: spans between pipes, without the blanks around them. */
export function partsOf(text: string): Part[] {
  const pipes = [...text.matchAll(TOKEN)].filter(({ 0: token }) => token === '|').map(({ index }) => index);
  const edges = [-1, ...pipes, text.length];
  return edges.slice(1).map((to, index) => {
    const part = text.slice((edges[index] ?? -1) + 1, to);
    const from = to - part.trimStart().length;
    return { from, to: Math.max(from, from + part.trim().length), end: to };
  });
}

const STRING_OR_COMMENT = /#[^\n\r]*|"(?:[^"\\]|\\[\s\S])*"|'(?:[^'\\]|\\[\s\S])*'/g;

/**
 * The same text with blank string contents, at the same offsets. After an error the parser may take
 * the end of a string for the start of one; it then finds the next quote soon, and reads no words
 * of the contents.
 */
export const withEmptyStrings = (text: string): string =>
  text.replace(STRING_OR_COMMENT, (token) =>
    token.startsWith('#') ? token : `${token.charAt(0)}${' '.repeat(token.length - 2)}${token.charAt(0)}`,
  );

export function unclosedString(text: string, from: number): QueryProblem {
  const quote = text.charAt(from);
  return {
    message: `the string that starts with ${text.slice(from, from + 20)} is not closed`,
    span: { from, to: text.length },
    hint: `it ends with ${quote}; inside it, a quote is written \\${quote} and a backslash \\\\`,
  };
}

export const tooDeep = (span: QueryProblem['span']): QueryProblem => ({
  message: `parentheses are nested deeper than ${FORM_LIMITS.nesting.max} levels`,
  span,
  hint: FORM_LIMITS.nesting.hint,
});
