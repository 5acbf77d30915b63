// What the analyzer knows while it reads a query, and where it puts what it finds wrong.
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
  /** How many times of day conditions have named so far: each is looked up in the time zone. */
  readonly named: { times: number };
  /** How names are found where rows are no events, or have short names beside those of events. */
  readonly findField?: (scope: Scope, name: FieldName) => ResolvedField | undefined;
}

/** Reports a problem. Returns undefined, so that whatever could not be resolved can be left out by `return report(…)`. */
export function report(scope: Scope, span: Span, message: string, hint: string): undefined {
  scope.problems.push({ span, message, hint });
  return undefined;
}
