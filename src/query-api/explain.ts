// Plan of a query instead of its answer: what it would answer, and the SQL that would run. Nothing
// is executed.
import type { Definition } from '../query/definitions/definitions.js';
import { toScript } from '../query/print/script.js';
import { type AnswerDeps, compileRequest, type Question, warnOfUnseen } from './answer.js';
import { toPeriod } from './shape.js';

/** Body of the response, with its JSON names. */
export interface Explanation {
  readonly mode: string;
  /** Two instants, joined with `/`. */
  readonly period: string;
  readonly timezone: string;
  readonly columns: readonly string[];
  readonly warnings: readonly string[];
  /** The definitions that the query uses, with their text. */
  readonly definitions: readonly Definition[];
  /** For a client of ClickHouse: sets the parameters, then runs the query. */
  readonly sql: string;
}

/** Throws bad_request with every problem of the text. */
export async function explainQuery(
  deps: AnswerDeps,
  { projectId, request }: Pick<Question, 'projectId' | 'request'>,
): Promise<Explanation> {
  const compiled = await compileRequest(deps, { projectId, request, nowMs: deps.now() });
  const { from, to } = toPeriod(compiled.range);
  return {
    mode: compiled.mode,
    period: `${from}/${to}`,
    timezone: compiled.timezone,
    columns: compiled.columns.map(({ name }) => name),
    warnings: [...compiled.warnings, ...(await warnOfUnseen(deps, projectId, compiled))],
    definitions: compiled.definitions,
    sql: toScript(compiled.statement),
  };
}
