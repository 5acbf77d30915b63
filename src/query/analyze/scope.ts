// Analyzer state: context of the query, and the collected problems and warnings.
import type { QueryProblem, Span } from '../errors.js';
import type { FieldName } from '../parse/syntax.js';
import type { GuessOf } from '../property-guess.js';
import type { ResolvedField } from './resolved.js';

export interface Scope {
  readonly nowMs: number;
  readonly timezone: string;
  readonly guessOf: GuessOf;
  readonly problems: QueryProblem[];
  readonly warnings: string[];
  /** Number of times in conditions so far: each is resolved in the time zone. */
  readonly named: { times: number };
  /** Field lookup of sources with bare field names. */
  readonly findField?: (scope: Scope, name: FieldName) => ResolvedField | undefined;
}

/** Reports a problem and returns undefined, for `return report(…)`. `replacement` is what may be meant in place of the span. */
export function report(scope: Scope, span: Span, message: string, hint: string, replacement?: string): undefined {
  scope.problems.push({ span, message, hint, replacement });
  return undefined;
}
