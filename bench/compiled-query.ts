// Compiles queries with the service's compiler and runs the SQL as the query process does.
import { toProjectId } from '../src/platform/ids.js';
import { compile } from '../src/query/compile.js';
import { settingsFor } from '../src/query-api/execute.js';
import { createPropertyGuesses } from '../src/query-api/property-guesses.js';
import type { EngineShare } from '../src/query-api/shares.js';
import type { Stack } from './stack.js';

export interface Statement {
  readonly sql: string;
  readonly params: Readonly<Record<string, unknown>>;
}

export interface TimedRows {
  readonly rows: readonly (readonly unknown[])[];
  readonly elapsedMs: number;
  /** Rows that the engine read, mappings included. */
  readonly rowsRead: number;
}

const guesses = createPropertyGuesses();

export function compileFor(stack: Stack, text: string): Statement {
  const projectId = toProjectId(stack.projectId);
  const guessOf = guesses.of(projectId);
  return compile(text, { projectId, nowMs: Date.now(), timezone: 'UTC', limit: 1000, offset: 0, guessOf }).statement;
}

/** Compiles with the property guesses of a query process that has answered the query before. */
export async function compileKnowingly(stack: Stack, text: string): Promise<Statement> {
  for (;;) {
    const statement = compileFor(stack, text);
    try {
      await runStatement(stack, statement);
      return statement;
    } catch (error) {
      if (!guesses.learn(toProjectId(stack.projectId), error)) throw error;
    }
  }
}

/**
 * Limits above those of the service, so that a query beyond them is measured instead of rejected.
 */
const SHARE: EngineShare = { memoryBytes: 4 * 1024 ** 3, threads: undefined, niceValue: 0 };
const TIMEOUT_MS = 60_000;

/** Duration as the client sees it, from sending the statement to the last row. */
export async function runStatement(stack: Stack, { sql, params }: Statement): Promise<TimedRows> {
  const startedMs = performance.now();
  const result = await stack.clickhouse.query({
    query: sql,
    query_params: { ...params },
    format: 'JSONCompact',
    clickhouse_settings: settingsFor(SHARE, TIMEOUT_MS),
  });
  const { data, statistics } = await result.json<unknown[]>();
  return { rows: data, elapsedMs: performance.now() - startedMs, rowsRead: statistics?.rows_read ?? 0 };
}
