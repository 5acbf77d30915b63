// All problems of a query: those of its syntax and those of its meaning, without the syntax errors
// that follow from a problem of the meaning beside them (`first 5`, `last seven days`), and without
// unknown names that are a syntax error in whole (`list time price`).
import { nameDefinitions } from './definitions/expand.js';
import type { QueryProblem } from './errors.js';

export function allProblems(
  text: string,
  syntax: readonly QueryProblem[],
  meaning: readonly QueryProblem[],
): readonly QueryProblem[] {
  const own = syntax.filter(
    ({ span: { from, to } }) =>
      !meaning.some(
        ({ explainsSyntax, span }) =>
          explainsSyntax && text.slice(Math.min(to, span.to), Math.max(from, span.from)).trim() === '',
      ),
  );
  const others = meaning.filter(
    ({ span }) => !own.some((error) => span.from === error.span.from && span.to === error.span.to),
  );
  return [...own, ...nameDefinitions(others)];
}
