// Suggests fixes for the problems of a query: replacements of pieces of its text. A fix is suggested only when it compiles: with it, the query
// has fewer problems than before.
import type { QueryProblem, Span } from '../errors.js';
import { STAGE_NAMES } from '../language.js';
import { partsOf } from '../parse/scan.js';
import { applyHabit, HABITS } from './habits.js';

/** The number of problems of a text. */
export type CountProblems = (text: string) => number;

interface Fix {
  readonly span: Span;
  readonly text: string;
}

// Bounds the work: each candidate is compiled.
const PROBLEMS_MAX = 5;
const CANDIDATES_MAX = 6;
const CHARACTERS_MAX = 4_000;

export function suggestFixes(
  text: string,
  problems: readonly QueryProblem[],
  countProblems: CountProblems,
): readonly QueryProblem[] {
  if (text.length > CHARACTERS_MAX) return problems;
  const taken: Span[] = [];
  return problems.map((problem, index) => {
    if (index >= PROBLEMS_MAX) return problem;
    const fix = candidatesFor(text, problem)
      .filter(({ span }) => !taken.some((other) => span.from <= other.to && other.from <= span.to))
      .slice(0, CANDIDATES_MAX)
      .find((candidate) => countProblems(applied(text, candidate)) < problems.length);
    if (fix === undefined) return problem;
    taken.push(fix.span);
    return { ...problem, fix };
  });
}

const applied = (text: string, { span, text: replacement }: Fix): string =>
  text.slice(0, span.from) + replacement + text.slice(span.to);

/** Better ones first. */
function candidatesFor(text: string, { span, replacement }: QueryProblem): Fix[] {
  const own = replacement === undefined ? [] : [{ span, text: replacement }];
  const parts = partsOf(text);
  const at = parts.findIndex((part) => span.from <= part.to);
  const part = parts[at];
  if (part === undefined) return own;
  const written = text.slice(part.from, part.to);
  const isSource = at === 0;
  const rewritten = HABITS.map((habit) => applyHabit(habit, written, isSource)).filter((one) => one !== undefined);
  // Several habits may be in one part: select count(*), or sum(x) per day.
  const all = HABITS.reduce((so, habit) => applyHabit(habit, so, isSource) ?? so, written);
  const fixes = [...rewritten, ...(all === written ? [] : [all])].map((fixed) => difference(part.from, written, fixed));
  return [...fixes, ...own, ...missingParts(text, span, part, isSource)];
}

/** A pipe before a stage, or a source before the first stage. */
function missingParts(text: string, span: Span, part: Span, isSource: boolean): Fix[] {
  const word = /^[a-z_]+/.exec(text.slice(span.from))?.[0] ?? '';
  const pipe = STAGE_NAMES.includes(word) && span.from > part.from ? [insertion(span.from, '| ')] : [];
  const first = /^\s*([a-z0-9_]+)/.exec(text)?.[1] ?? '';
  const source =
    isSource && STAGE_NAMES.includes(first) ? [insertion(text.length - text.trimStart().length, '* | ')] : [];
  return [...source, ...pipe];
}

const insertion = (at: number, text: string): Fix => ({ span: { from: at, to: at }, text });

/** The smallest replacement that makes `to` of `from`. */
function difference(offset: number, from: string, to: string): Fix {
  let start = 0;
  while (start < from.length && start < to.length && from[start] === to[start]) start += 1;
  let end = 0;
  const rest = Math.min(from.length, to.length) - start;
  while (end < rest && from[from.length - 1 - end] === to[to.length - 1 - end]) end += 1;
  return {
    span: { from: offset + start, to: offset + from.length - end },
    text: to.slice(start, to.length - end),
  };
}
