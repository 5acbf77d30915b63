// Suggests fixes for the problems of a query: replacements of pieces of its text. Each is compiled
// before it is suggested: with it, the query has fewer problems than before.
import { isTypo, type QueryProblem, type Span } from '../errors.js';
import { otherNameOf } from '../fields.js';
import { STAGE_NAMES, STAGES } from '../language.js';
import { columnOfAggregate, metricColumnOf } from '../metric-words.js';
import { partsOf } from '../parse/scan.js';
import { applyHabit, HABITS } from './habits.js';
import { movingAverage } from './moving-average.js';
import { PIPES } from './product-habits.js';
import { type Now, relativeTime } from './relative-time.js';
import { rule } from './rule.js';

type FindProblems = (text: string) => readonly QueryProblem[];

export interface Fix {
  readonly span: Span;
  readonly text: string;
}

// Bounds the work: each candidate is compiled, and compiled again after each of the names that it
// still has wrong.
const PROBLEMS_MAX = 5;
const CANDIDATES_MAX = 8;
const NAMES_MAX = 3;
const CHARACTERS_MAX = 4_000;
/** Of a source or stage that habits are looked for in: some take the square of its length. */
const PART_CHARACTERS_MAX = 1_000;

export function suggestFixes(
  text: string,
  problems: readonly QueryProblem[],
  findProblems: FindProblems,
  now: Now,
): readonly QueryProblem[] {
  if (text.length > CHARACTERS_MAX) return problems;
  const taken: Span[] = [];
  const rewrittenOf = rewriteOnce();
  const unsolved = new Set(problems.map(({ message }) => message));
  const followed = new Set<QueryProblem>();
  return problems.flatMap((problem, index) => {
    if (followed.has(problem)) return [];
    if (index >= PROBLEMS_MAX) return problem;
    const candidates = candidatesFor(text, problem, { now, rewrittenOf })
      .filter(({ span }) => !taken.some((other) => span.from <= other.to && other.from <= span.to))
      .slice(0, CANDIDATES_MAX);
    const best = bestOf(text, problem, { before: problems, unsolved, candidates, findProblems });
    if (best === undefined) return withForm(problem);
    const { fix } = best;
    taken.push(fix.span);
    unsolved.delete(problem.message);
    for (const other of problems.slice(index + 1)) if (followsFrom(other, best)) followed.add(other);
    return { ...problem, fix };
  });
}

/** The name of a stage that is no fix alone takes more. */
function withForm(problem: QueryProblem): QueryProblem {
  const { hint, replacement = '' } = problem;
  const stage = Object.values(STAGES).find(({ words }) => words.includes(replacement));
  return stage ? { ...problem, hint: `${hint}; ${stage.hint}` } : problem;
}

interface Choice {
  readonly before: readonly QueryProblem[];
  /** Messages of problems without a fix so far. */
  readonly unsolved: ReadonlySet<string>;
  readonly candidates: readonly Fix[];
  readonly findProblems: FindProblems;
}

/**
 * Whether the fix of another problem solves it too: it was what the parser made of the text behind
 * a mistake, or is in the text that the fix replaces.
 */
const followsFrom = ({ message }: QueryProblem, { left }: Solution): boolean =>
  !left.some((other) => other.message === message);

interface Solution {
  readonly fix: Fix;
  readonly left: readonly QueryProblem[];
}

/**
 * The candidate that leaves the fewest problems, fewer than before, no new ones and none at the
 * place of its own; the first of equal ones.
 */
function bestOf(
  text: string,
  problem: QueryProblem,
  { before, unsolved, candidates, findProblems }: Choice,
): Solution | undefined {
  const known = new Set(before.map(({ message }) => message));
  let best: Solution | undefined;
  let fewest = before.length;
  for (const candidate of candidates) {
    const { fix, problems } = withNames(text, candidate, before, findProblems);
    if (problems.length >= fewest || problems.some(({ message }) => !known.has(message))) continue;
    const all = applied(text, fix);
    const place = placeAfter(fix, problem.span);
    if (problems.some((left) => unsolved.has(left.message) && isLeft(all, left, place))) continue;
    [best, fewest] = [{ fix, left: problems }, problems.length];
    if (fewest === 0) break;
  }
  return best;
}

/**
 * The candidate with the nearest names in place of the wrong ones that it contains, and of those
 * before and behind it in its part that show only now: what the candidate replaces hid them.
 */
function withNames(
  text: string,
  fix: Fix,
  before: readonly QueryProblem[],
  findProblems: FindProblems,
): { fix: Fix; problems: readonly QueryProblem[] } {
  let fixed = fix;
  for (let replaced = 0; ; replaced += 1) {
    const all = applied(text, fixed);
    const problems = findProblems(all);
    const { from, to } = fixed.span;
    const end = from + fixed.text.length;
    const moved = fixed.text.length - (to - from);
    const isNew = ({ span, message }: QueryProblem): boolean =>
      !before.some((one) => one.message === message && one.span.from === span.from - (span.from < from ? 0 : moved));
    const isInPart = ({ span }: QueryProblem): boolean =>
      !all.slice(Math.min(span.to, end), Math.max(span.from, from)).includes('|');
    const isInFix = ({ span }: QueryProblem): boolean => span.from >= from && span.to <= end;
    const own = problems.find((problem) => isInFix(problem) || (isNew(problem) && isInPart(problem)));
    const name = own && nameFor(all, own);
    if (own === undefined || name === undefined || replaced === NAMES_MAX || isEvent(all, own, name)) {
      return { fix: fixed, problems };
    }
    const start = Math.min(from, own.span.from);
    const behind = Math.max(0, own.span.to - end);
    const written = all.slice(start, end + behind);
    const place = { from: own.span.from - start, to: own.span.to - start };
    fixed = { span: { from: start, to: to + behind }, text: applied(written, { span: place, text: name }) };
  }
}

/** `list signup` and `unique signup` without a source may mean an event. */
const isEvent = (all: string, { span }: QueryProblem, name: string): boolean =>
  name.startsWith('event_properties.') && /^\s*\* \| (?:list|unique)\s+$/.test(all.slice(0, span.from));

const applied = (text: string, { span, text: replacement }: Fix): string =>
  text.slice(0, span.from) + replacement + text.slice(span.to);

/**
 * Whether a problem is at the place of the fixed one, or before it in its part, where only a name
 * may be wrong: the fixed one followed from it.
 */
function isLeft(all: string, { span, ...left }: QueryProblem, place: Span): boolean {
  if (span.from > place.to) return false;
  if (span.to >= place.from) return true;
  return !all.slice(span.to, place.from).includes('|') && nameFor(all, { span, ...left }) === undefined;
}

/** Where a span of the text is in the fixed text. */
function placeAfter({ span, text }: Fix, { from, to }: Span): Span {
  const moved = text.length - (span.to - span.from);
  return { from: from < span.to ? Math.min(from, span.from) : from + moved, to: to > span.from ? to + moved : to };
}

/**
 * The replacement of a problem when it is an operator, holds the written name, or is so near that
 * nothing else can be meant.
 */
function nameFor(text: string, { span, replacement }: QueryProblem): string | undefined {
  const written = text.slice(span.from, span.to).toLowerCase();
  const name = replacement?.toLowerCase();
  if (name === undefined || !/\w/.test(written) || name.includes(written.replace(/^_/, ''))) return replacement;
  if (name === otherNameOf(written) || name === metricColumnOf(written)) return replacement;
  // The words before a dot are others.
  if (written.includes('.') && name.endsWith(written.slice(written.indexOf('.') + 1))) return replacement;
  return isTypo(written, name) ? replacement : undefined;
}

/** What the habits make of a part: each alone, and all together. */
type Rewrite = (part: string, isSource: boolean) => readonly string[];

/** Problems of the same part share the rewritten ones: habits are slow expressions. */
function rewriteOnce(): Rewrite {
  const known = new Map<string, readonly string[]>();
  return (part, isSource) => {
    if (part.length > PART_CHARACTERS_MAX) return [];
    const key = `${isSource} ${part}`;
    const found = known.get(key) ?? rewrite(part, isSource);
    known.set(key, found);
    return found;
  };
}

/** So many habits of one part are tried alone before all of them, of which a statement has more. */
const ALONE = 4;

const rewrite: Rewrite = (part, isSource) => {
  const each = HABITS.map((habit) => applyHabit(habit, part, isSource)).filter((one) => one !== undefined);
  // Several habits may be in one part: select count(*), or sum(x) per day.
  const all = HABITS.reduce((so, habit) => applyHabit(habit, so, isSource) ?? so, part);
  return all === part ? each : [...each.slice(0, ALONE), all, ...each.slice(ALONE)];
};

interface Means {
  readonly now: Now;
  readonly rewrittenOf: Rewrite;
}

/** Stages that aggregate, of this language and of others: `list` does not fit behind them. */
const SUMS_UP = /^\s*(?:stats|summari[sz]e|aggregate|timechart|count|unique|sum|avg|min|max|median|p9\d)\b/i;

/** Better ones first. */
function candidatesFor(text: string, problem: QueryProblem, { now, rewrittenOf }: Means): Fix[] {
  const { span } = problem;
  const name = nameFor(text, problem);
  const own = name === undefined ? [] : [{ span, text: name }];
  const parts = partsOf(text);
  const at = parts.findIndex((part) => span.from <= part.end);
  const part = parts[at];
  if (part === undefined) return own;
  const written = text.slice(part.from, part.to);
  const isSource = at === 0;
  const isSummedUp = parts.slice(1, at).some((other) => SUMS_UP.test(text.slice(other.from, other.to)));
  const rewritten = rewrittenOf(written, isSource).filter((one) => !isSummedUp || !/^\s*list\b/.test(one));
  const toFix = (fixed: string): Fix => difference(part.from, written, fixed);
  return [
    ...doublePipe(text, span, { isBeforeStage: true }),
    ...rewritten.flatMap((fixed) => withColumn(text, part, fixed)),
    ...rewritten.map(toFix),
    ...doublePipe(text, span, { isBeforeStage: false }),
    ...relativeTime(text, { part, span, now }),
    ...movingAverage(text, part),
    ...own,
    ...rewritten.flatMap((fixed) => applyHabit(PIPES, fixed, isSource) ?? []).map(toFix),
    ...missingParts(text, span, part, isSource),
  ];
}

/** An aggregate with a name of its own: `n = count()`, `count as n`. */
const NAMED = /(?:^|\s)(\w+)\s*=\s*[a-z]\w*\s*\(|\bas\s+(\w+)/i;

/** Later stages that use this name get the name of the aggregate's column. */
function withColumn(text: string, { from, to }: Span, fixed: string): Fix[] {
  const [, before, behind] = NAMED.exec(text.slice(from, to)) ?? [];
  const name = before ?? behind;
  const column = columnOfAggregate(fixed);
  if (name === undefined || name === column) return [];
  const used = rule(String.raw`(?<![\w.])${name}(?![\w.(])`, column, 'stage');
  const rest = applyHabit(used, text.slice(to), false);
  return rest === undefined ? [] : [difference(from, text.slice(from), fixed + rest)];
}

/** One pipe too many; in a condition `||` is or, which is a habit. */
function doublePipe(text: string, { from }: Span, { isBeforeStage }: { readonly isBeforeStage: boolean }): Fix[] {
  if (!text.startsWith('||', from)) return [];
  const word = /^\s*(\w*)/.exec(text.slice(from + 2))?.[1] ?? '';
  return STAGE_NAMES.includes(word) === isBeforeStage ? [{ span: { from, to: from + 2 }, text: '|' }] : [];
}

/** A pipe before a stage, or a source before the first stage. */
function missingParts(text: string, span: Span, part: Span, isSource: boolean): Fix[] {
  const word = /^[a-z_]+/.exec(text.slice(span.from))?.[0] ?? '';
  const pipe = STAGE_NAMES.includes(word) && span.from > part.from ? [insertion(span.from, '| ')] : [];
  const first = /^\s*([a-z0-9_]+)/.exec(text)?.[1] ?? '';
  const source =
    isSource && STAGE_NAMES.includes(first) ? [insertion(text.length - text.trimStart().length, '* | ')] : [];
  const written = text.slice(part.from, part.to);
  const pipes = applyHabit(PIPES, written, isSource);
  return [...source, ...pipe, ...(pipes ? [difference(part.from, written, pipes)] : [])];
}

const insertion = (at: number, text: string): Fix => ({ span: { from: at, to: at }, text });

/**
 * The smallest replacement that makes `to` of `from` and does not begin or end within a word or a
 * sign such as `->`, because a button shows its text.
 */
function difference(offset: number, from: string, to: string): Fix {
  let start = 0;
  while (start < from.length && start < to.length && from[start] === to[start]) start += 1;
  while (start > 0 && (isOneToken(from, start) || isOneToken(to, start))) start -= 1;
  let end = 0;
  const rest = Math.min(from.length, to.length) - start;
  while (end < rest && from[from.length - 1 - end] === to[to.length - 1 - end]) end += 1;
  while (end > 0 && (isOneToken(from, from.length - end) || isOneToken(to, to.length - end))) end -= 1;
  return {
    span: { from: offset + start, to: offset + from.length - end },
    text: to.slice(start, to.length - end),
  };
}

/** Whether the characters before and at the place belong together. */
const isOneToken = (text: string, at: number): boolean => /^(?:\w\w|[^\w\s]{2})$/.test(text.slice(at - 1, at + 1));
