// The query language in the browser: the grammar, the parser and the analyzer are those of the
// service, so that a query is judged here, while it is typed, as it will be there.
import { allProblems } from '../../../src/query/all-problems.js';
import { analyze } from '../../../src/query/analyze/analyze.js';
import type { Definitions } from '../../../src/query/definitions/definitions.js';
import type { QueryProblem, Span } from '../../../src/query/errors.js';
import { parse } from '../../../src/query/parse/parse.js';
import { serviceNow } from '../api/clock.js';

export type { Span };

export interface Problem extends Pick<QueryProblem, 'message' | 'hint' | 'span' | 'fix'> {}

const PROBLEMS_MAX = 20;

let suggestFixes: typeof import('../../../src/query/fixes/suggest.js').suggestFixes | undefined;

/** Loads the repairs, which only a wrong query needs. */
export async function loadFixes(): Promise<void> {
  suggestFixes ??= (await import('../../../src/query/fixes/suggest.js')).suggestFixes;
}

/** Definitions of the project that is open. */
let defined: Definitions = [];
export const setDefinitions = (definitions: Definitions): void => {
  defined = definitions;
};

/** Problems of the text in its order, with their repairs once these are loaded. */
export function check(text: string, timezone: string, nowMs = serviceNow()): readonly Problem[] {
  if (text.trim() === '') return [];
  const problemsOf = (of: string): readonly QueryProblem[] => {
    const { query, problems } = parse(of);
    return allProblems(of, problems, analyze(query, { nowMs, timezone, definitions: defined }).problems);
  };
  const found = problemsOf(text);
  if (found.length === 0) return found;
  const repaired = suggestFixes?.(text, found, problemsOf, { nowMs, timezone }) ?? found;
  return [...repaired].sort((a, b) => a.span.from - b.span.from).slice(0, PROBLEMS_MAX);
}

export const RANGES: readonly string[] = ['last', 'from_to', 'named_range', 'since'];

/**
 * The text with another time range: its stage is replaced, or added behind the source. All else
 * stays.
 */
export function withTimeRange(text: string, stage: string): string {
  const { query } = parse(text);
  const range = query.stages.find(({ kind }) => RANGES.includes(kind));
  if (range !== undefined) return replaceSpan(text, range.span, stage);
  if (query.source === undefined || query.source === 'broken') return `${text.trimEnd()}\n| ${stage}`;
  // `by` may follow a source without a pipe.
  const { to } = query.source.span;
  const head = query.stages.find(({ kind, span }) => kind === 'by' && !text.slice(to, span.from).includes('|'));
  return insertAt(text, head?.span.to ?? to, ` | ${stage}`);
}

const insertAt = (text: string, at: number, added: string): string => text.slice(0, at) + added + text.slice(at);

export const replaceSpan = (text: string, { from, to }: Span, by: string): string =>
  text.slice(0, from) + by + text.slice(to);
