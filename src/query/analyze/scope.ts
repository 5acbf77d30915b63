// Analyzer state: context of the query, and the collected problems and warnings.
import type { Definitions } from '../definitions/definitions.js';
import type { QueryProblem, Span } from '../errors.js';
import type { NearestNames } from '../nearest-names.js';
import type * as syntax from '../parse/syntax.js';
import type { GuessOf } from '../property-guess.js';
import type { Mentions } from './mentions.js';
import type { Condition, ResolvedField } from './resolved.js';

export type CallComparison = Extract<syntax.Condition, { kind: 'call_comparison' }>;

export interface Scope {
  readonly nowMs: number;
  readonly timezone: string;
  readonly guessOf: GuessOf;
  /** Keys of event properties that the project has sent, for hints of unknown names. */
  readonly propertyKeys?: readonly string[] | undefined;
  /** Names of the columns of the answer, for hints of unknown names. */
  readonly columns?: readonly string[];
  /** What the project has defined. */
  readonly definitions?: Definitions | undefined;
  /** Where the nearest ones of the project's names are found. */
  readonly nearest: NearestNames;
  readonly problems: QueryProblem[];
  readonly warnings: string[];
  readonly mentions: Mentions;
  /** Set by the stages that select events, and by a group that is a cohort. */
  readonly selected: { resolveCall?: Scope['resolveCall']; cohort?: syntax.FieldName };
  /** Number of times in conditions so far: each is resolved in the time zone. */
  readonly named: { times: number };
  /** Names of the calls in conditions so far. */
  readonly calls: Map<string, string>;
  /** Field lookup of sources with bare field names. */
  readonly findField?: (scope: Scope, name: syntax.FieldName) => ResolvedField | undefined;
  /** Resolves a call in a condition; undefined where calls do not fit. */
  readonly resolveCall?: ((scope: Scope, condition: CallComparison) => Condition | undefined) | undefined;
}

/**
 * Reports a problem and returns undefined, for `return report(…)`. `replacement` is what may be
 * meant in place of the span.
 */
export function report(scope: Scope, span: Span, message: string, hint: string, replacement?: string): undefined {
  scope.problems.push({ span, message, hint, replacement });
  return undefined;
}

/** A problem from which a syntax error beside its span follows: `first 5`, `last seven days`. */
export function reportBeforeSyntax(scope: Scope, { replacement, ...problem }: QueryProblem): undefined {
  scope.problems.push({ ...problem, replacement, explainsSyntax: true });
  return undefined;
}
