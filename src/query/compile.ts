// Query compiler: text → syntax (parse) → meaning (analyze) → plan → SQL (print). Pure: the same
// text and context always give the same statement or the same problems.

import type { ProjectId } from '../platform/ids.js';
import { allProblems } from './all-problems.js';
import { analyze } from './analyze/analyze.js';
import type { Mentions } from './analyze/mentions.js';
import type { CoveredAnnotation } from './annotations.js';
import { CompileWork } from './compile-work.js';
import type { Definitions } from './definitions/definitions.js';
import { QueryError } from './errors.js';
import { suggestFixes } from './fixes/suggest.js';
import { parse } from './parse/parse.js';
import { planEventBefore } from './people/event-before.js';
import type { Plan, Select } from './plan/plan.js';
import { type PrintedStatement, print } from './print/print.js';
import type { GuessOf } from './property-guess.js';
import { type OwnKeys, planOwnKeys } from './sources/own-keys.js';
import { plan } from './sources/plans.js';

export { QUERY_BYTES_MAX } from './limits.js';

export interface CompileContext {
  readonly projectId: ProjectId;
  readonly nowMs: number;
  /** IANA time zone of calendar words, dates without an offset, and time buckets. */
  readonly timezone: string;
  readonly limit: number;
  readonly offset: number;
  /**
   * Guessed types of properties; default text. The engine rejects the statement when a guess is
   * wrong.
   */
  readonly guessOf?: GuessOf;
  /** Keys of event properties that the project has sent, for hints of unknown names. */
  readonly propertyKeys?: readonly string[];
  /** What the project has defined. */
  readonly definitions?: Definitions;
  /** Whether problems carry fixes, which are compiled too. */
  readonly suggestsFixes?: boolean;
  /** Whether to compile `ownKeys`, which few queries need. */
  readonly asksForOwnKeys?: boolean;
  /** Bounds the work on names and definitions; default: the bounds of one compilation. */
  readonly work?: CompileWork;
}

export interface CompiledQuery extends Omit<Plan, 'select' | 'total' | 'withoutUnit'> {
  readonly mentions: Mentions;
  /** The definitions that the query uses. */
  readonly definitions: Definitions;
  readonly statement: PrintedStatement;
  /** Counts the rows of a list; needed only when the page is full. */
  readonly countStatement: PrintedStatement | undefined;
  /** Counts the events that the query leaves out, because they do not have its unit. */
  readonly withoutUnit: { readonly unit: string; readonly statement: PrintedStatement } | undefined;
  /** Of `compare`: one row when the project has an event from before the earlier range. */
  readonly eventBefore: PrintedStatement | undefined;
  /** Only when it is asked for. */
  readonly ownKeys?: readonly OwnKeys<PrintedStatement>[];
  readonly rowsMax: number | undefined;
  /** Annotations of the project in the range of the query. */
  readonly annotations?: readonly CoveredAnnotation[];
}

function resolve(text: string, context: CompileContext) {
  const { query, problems: syntaxProblems } = parse(text);
  const { query: resolved, problems, definitions } = analyze(query, context);
  return { resolved, problems: allProblems(text, syntaxProblems, problems), definitions };
}

/**
 * Throws a QueryError with every problem of the text, and TooMuchText when the definitions exceed
 * what `work` allows.
 */
export function compile(text: string, given: CompileContext): CompiledQuery {
  const context = { ...given, work: given.work ?? new CompileWork() };
  const { resolved, problems, definitions } = resolve(text, context);
  if (problems.length > 0) {
    const findProblems = (fixed: string) => resolve(fixed, context).problems;
    throw new QueryError(text, context.suggestsFixes ? suggestFixes(text, problems, findProblems, context) : problems);
  }
  // Fail rather than answer a query of which a part was dropped.
  if (!resolved) throw new Error('the query has no meaning, and no problem was reported');

  const { select, total, withoutUnit, ...answer } = plan(resolved, context);
  const ownKeys = context.asksForOwnKeys ? planOwnKeys(resolved, context) : [];
  return {
    ...answer,
    mentions: resolved.mentions,
    definitions,
    statement: print(select),
    countStatement: total.kind === 'count' ? print(total.select) : undefined,
    withoutUnit: withoutUnit && { unit: withoutUnit.unit, statement: print(withoutUnit.count) },
    eventBefore: answer.earlier && print(planEventBefore(context, answer.earlier)),
    rowsMax: total.rowsMax,
    ...(ownKeys.length > 0 && { ownKeys: ownKeys.map(printOwnKeys) }),
  };
}

const printOwnKeys = ({ event, asked, statement }: OwnKeys<Select>): OwnKeys<PrintedStatement> => ({
  event,
  asked: asked.map((key) => ({ ...key, others: print(key.others) })),
  statement: print(statement),
});
