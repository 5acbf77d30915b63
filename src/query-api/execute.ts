// Runs the statements of one query on ClickHouse: read-only, bounded in time, memory, threads and rows, and stopped in the
// engine when the deadline passes or the client leaves.
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { ClickHouseSettings } from '@clickhouse/client';
import type { ClickHouseClient } from '../platform/clickhouse/client.js';
import { stopQuery } from '../platform/clickhouse/kill-query.js';
import type { Logger } from '../platform/log.js';
import type { Statement } from '../query/print/print.js';
import { type EngineBytes, type EngineResult, parseResult, readBytes } from './engine-answer.js';
import { AnswerNotWanted, isOverQueryMemory, toPublicError } from './engine-failures.js';
import type { EngineShare, QueryShare } from './shares.js';

export interface EngineLimits {
  readonly timeoutMs: number;
  readonly memoryBytes: number;
}

export interface ExecuteDeps {
  readonly clickhouse: ClickHouseClient;
  readonly limits: EngineLimits;
  readonly log: Logger;
}

/** The statements of one query: they have one deadline between them. */
export interface Execution {
  run(statement: Statement): Promise<EngineResult>;
  /** Its answer as bytes, which may be many. */
  runForBytes(statement: Statement): Promise<EngineBytes>;
  /** Resolves once the engine runs nothing of this query any more, as far as that can be found out. Never rejects. */
  stopped(): Promise<void>;
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
export function settingsFor(share: EngineShare, remainingMs: number): ClickHouseSettings {
  return {
    readonly: '2',
    cancel_http_readonly_queries_on_client_close: 1,
    ...(share.threads !== undefined && { max_threads: share.threads }),
    os_threads_nice_value_query: share.niceValue,
    max_execution_time: Math.max(0.05, remainingMs / 1000),
    timeout_overflow_mode: 'throw',
    max_memory_usage: String(share.memoryBytes),
    // Spilling to disk comes before failing.
    max_bytes_before_external_group_by: String(Math.floor(share.memoryBytes / 2)),
    max_bytes_before_external_sort: String(Math.floor(share.memoryBytes / 2)),
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

export interface QueryCaller {
  /** Begins the id of each query, by which the engine's own records lead back to the request. */
  readonly requestId: string;
  /** Aborted when the client leaves. */
  readonly signal: AbortSignal;
  readonly share: Pick<QueryShare, 'current' | 'raiseMemory'>;
  readonly deadlineMs: number;
}

/** The execution rejects with a PublicError, or AnswerNotWanted. */
export function beginExecution(deps: ExecuteDeps, asker: QueryCaller): Execution {
  const { signal, share, deadlineMs } = asker;
  const stopping: Promise<void>[] = [];

  async function runOnce(statement: Statement, stop: AbortSignal): Promise<EngineBytes> {
    const queryId = `${asker.requestId}-${randomUUID()}`;
    const settings = settingsFor(share.current(), deadlineMs - Date.now());
    const connection = new AbortController();
    const asking = ask(deps, { statement, queryId, settings, signal: connection.signal });
    try {
      return await settledUnless(stop, asking);
    } catch (cause) {
      if (stop.aborted) stopping.push(endQuery(deps, { queryId, asking, connection }));
      throw cause;
    }
  }

  async function runForBytes(statement: Statement): Promise<EngineBytes> {
    const deadline = AbortSignal.timeout(Math.max(1, deadlineMs - Date.now() + GRACE_MS));
    const stop = AbortSignal.any([signal, deadline]);
    try {
      for (;;) {
        try {
          return await runOnce(statement, stop);
        } catch (cause) {
          if (!isOverQueryMemory(cause) || !(await share.raiseMemory(stop))) throw cause;
        }
      }
    } catch (cause) {
      if (signal.aborted) throw new AnswerNotWanted();
      throw toPublicError(cause, { isLate: deadline.aborted, limits: deps.limits });
    }
  }

  return {
    runForBytes,
    run: async (statement) => parseResult(await runForBytes(statement)),
    stopped: async () => {
      await Promise.all(stopping);
    },
  };
}

/** Rejects with the signal's reason as soon as it is aborted. */
async function settledUnless<T>(signal: AbortSignal, promise: Promise<T>): Promise<T> {
  signal.throwIfAborted();
  let abandon = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    abandon = () => reject(signal.reason);
    signal.addEventListener('abort', abandon, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', abandon);
  }
}

const KILL_EVERY_MS = 100;
const END_TIMEOUT_MS = 10_000;

interface Running {
  readonly queryId: string;
  readonly asking: Promise<unknown>;
  readonly connection: AbortController;
}

/**
 * Kills the query until the engine has answered. Once is not enough: a query that was just sent may not be known yet. The
 * connection stays open until then, because the answer is what tells that the query has ended.
 */
async function endQuery(deps: ExecuteDeps, { queryId, asking, connection }: Running): Promise<void> {
  const ended = asking.then(
    () => true,
    () => true,
  );
  const giveUpAt = Date.now() + END_TIMEOUT_MS;
  do {
    await stopQuery(deps, queryId);
  } while (!(await Promise.race([ended, delay(KILL_EVERY_MS, false)])) && Date.now() < giveUpAt);
  connection.abort();
}

interface Asked {
  readonly statement: Statement;
  readonly queryId: string;
  readonly settings: ClickHouseSettings;
  /** Closes the connection. */
  readonly signal: AbortSignal;
}

async function ask(deps: ExecuteDeps, { statement, queryId, settings, signal }: Asked): Promise<EngineBytes> {
  const result = await deps.clickhouse.query({
    query: statement.sql,
    query_params: { ...statement.params },
    // Long lists go in the body: a proxy before ClickHouse may take a URL of 8 KiB only.
    use_multipart_params_auto: true,
    format: 'JSONCompact',
    query_id: queryId,
    abort_signal: signal,
    clickhouse_settings: settings,
  });
  return readBytes(result);
}
