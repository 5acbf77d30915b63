// What the analyzer knows while it reads a query, and where it puts what it finds wrong.
import type { QueryProblem, Span } from '../errors.js';

export interface Scope {
  readonly nowMs: number;
  readonly timezone: string;
  readonly problems: QueryProblem[];
  readonly warnings: string[];
}

/** Reports a problem. Returns undefined, so that whatever could not be resolved can be left out by `return report(…)`. */
export function report(scope: Scope, span: Span, message: string, hint: string): undefined {
  scope.problems.push({ span, message, hint });
  return undefined;
}
