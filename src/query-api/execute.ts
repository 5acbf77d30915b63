// Runs statements on ClickHouse within the limits of one query: read-only, bounded in time, memory and rows, and really
// stopped when the deadline passes or nobody waits for the answer any more.
import { randomUUID } from 'node:crypto';
import type { ClickHouseSettings } from '@clickhouse/client';
import type { ClickHouseClient } from '../platform/clickhouse/client.js';
import { killQuery } from '../platform/clickhouse/kill-query.js';
import type { Logger } from '../platform/log.js';
import type { Statement } from '../query/print/print.js';
import { AnswerNotWanted, toPublicError } from './engine-failures.js';

export interface EngineResult {
  readonly rows: readonly (readonly unknown[])[];
  /** What the statement would have answered without its LIMIT. */
  readonly rowsBeforeLimit: number;
  /** Rows the engine read to answer. */
  readonly rowsScanned: number;
}

export interface EngineLimits {
  readonly timeoutMs: number;
  readonly memoryBytes: number;
}

export interface ExecuteDeps {
  readonly clickhouse: ClickHouseClient;
  readonly limits: EngineLimits;
  readonly log: Logger;
}

/** One query's share of the engine: its statements have one deadline between them. */
export interface Execution {
  run(statement: Statement): Promise<EngineResult>;
}

// The engine notices its own deadline; ours only ends what it does not.
const GRACE_MS = 1_000;
const RESULT_ROWS_MAX = 10_001;
// An answer is in memory as text, as values and as text again, in a process that all projects share.
const RESULT_BYTES_MAX = 32 * 1024 * 1024;
// A short query can be a long statement: each condition on a property asks several columns. The engine's own bound on what a
// statement is made of comes first.
const STATEMENT_BYTES_MAX = 4 * 1024 * 1024;

/** Every setting of a statement that may still take so long. */
export function settingsFor(limits: EngineLimits, remainingMs: number): ClickHouseSettings {
  return {
    readonly: '2',
    max_execution_time: Math.max(0.05, remainingMs / 1000),
    timeout_overflow_mode: 'throw',
    max_memory_usage: String(limits.memoryBytes),
    // Spilling to disk comes before failing.
    max_bytes_before_external_group_by: String(Math.floor(limits.memoryBytes / 2)),
    max_bytes_before_external_sort: String(Math.floor(limits.memoryBytes / 2)),
    // Left to itself, the engine builds the table in memory from the events instead of from what is joined to them: 2.5 times
    // slower over ten million events, in four times the memory.
    query_plan_join_swap_table: 'false',
    max_query_size: String(STATEMENT_BYTES_MAX),
    max_result_rows: String(RESULT_ROWS_MAX),
    max_result_bytes: String(RESULT_BYTES_MAX),
    result_overflow_mode: 'throw',
    exact_rows_before_limit: 1,
    // What goes wrong late is an error then, and not a broken answer: refusals of guesses have to arrive as such.
    wait_end_of_query: 1,
    date_time_output_format: 'iso',
    output_format_json_quote_64bit_integers: 0,
    // NaN is a number that is missing: null in the answer.
    output_format_json_quote_denormals: 0,
  };
}

export interface Asker {
  /** Begins the id of each query, by which the engine's own records lead back to the request. */
  readonly requestId: string;
  /** Aborted when the client leaves. */
  readonly signal: AbortSignal;
}

/** The execution rejects with a PublicError, or AnswerNotWanted. */
export function beginExecution(deps: ExecuteDeps, { requestId, signal }: Asker): Execution {
  const deadlineMs = Date.now() + deps.limits.timeoutMs;
  return {
    run: async (statement) => {
      const queryId = `${requestId}-${randomUUID()}`;
      const remainingMs = deadlineMs - Date.now();
      const deadline = AbortSignal.timeout(Math.max(1, remainingMs + GRACE_MS));
      const stop = AbortSignal.any([signal, deadline]);
      try {
        return await ask(deps, { statement, queryId, stop, remainingMs });
      } catch (cause) {
        if (stop.aborted) await killQuery(deps, queryId);
        if (signal.aborted) throw new AnswerNotWanted();
        throw toPublicError(cause, { isLate: deadline.aborted, limits: deps.limits });
      }
    },
  };
}

interface Asked {
  readonly statement: Statement;
  readonly queryId: string;
  readonly stop: AbortSignal;
  readonly remainingMs: number;
}

async function ask(deps: ExecuteDeps, { statement, queryId, stop, remainingMs }: Asked): Promise<EngineResult> {
  const result = await deps.clickhouse.query({
    query: statement.sql,
    query_params: { ...statement.params },
    // Long lists go in the body: a proxy before ClickHouse may take a URL of 8 KiB only.
    use_multipart_params_auto: true,
    format: 'JSONCompact',
    query_id: queryId,
    abort_signal: stop,
    clickhouse_settings: settingsFor(deps.limits, remainingMs),
  });
  const answer = await result.json<unknown[]>();
  return {
    rows: answer.data,
    rowsBeforeLimit: answer.rows_before_limit_at_least ?? answer.data.length,
    rowsScanned: answer.statistics?.rows_read ?? 0,
  };
}
