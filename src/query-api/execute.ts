// Executes the statements of one query on ClickHouse: read-only, with limits of time, memory,
// threads and rows, and stopped in ClickHouse at the deadline or when the client disconnects.
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { ClickHouseSettings } from '@clickhouse/client';
import type { ClickHouseClient } from '../platform/clickhouse/client.js';
import { stopQuery } from '../platform/clickhouse/kill-query.js';
import { orAborted } from '../platform/flow/or-aborted.js';
import type { Logger } from '../platform/log.js';
import type { Statement } from '../query/print/print.js';
import { type EngineBytes, type EngineResult, parseResult, readBytes } from './engine-answer.js';
import { AnswerNotWanted, isOverQueryMemory, RESULT_ROWS_MAX, toPublicError } from './engine-failures.js';
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

/** The statements of one query, which share one deadline. */
export interface Execution {
  run(statement: Statement): Promise<EngineResult>;
  /** Resolves with the answer as bytes, which may be many megabytes. */
  runForBytes(statement: Statement): Promise<EngineBytes>;
  /**
   * Resolves once ClickHouse no longer runs any statement of this query, as far as can be
   * determined. Never rejects.
   */
  stopped(): Promise<void>;
}

// ClickHouse enforces the deadline itself; after this time the query is stopped from here.
const GRACE_MS = 1_000;
// An answer is held as text, as values and as text again, in a process shared by all projects.
const RESULT_BYTES_MAX = 32 * 1024 * 1024;
const ANSWER_BUFFER_BYTES = 1024 * 1024;
// A short query can become a long statement, because each condition on a property reads several
// columns. ClickHouse's own limits on the syntax tree apply first.
const STATEMENT_BYTES_MAX = 4 * 1024 * 1024;

/** All settings of a statement with the given time left. */
export function settingsFor(share: EngineShare, remainingMs: number): ClickHouseSettings {
  return {
    readonly: '2',
    cancel_http_readonly_queries_on_client_close: 1,
    ...(share.threads !== undefined && { max_threads: share.threads }),
    os_threads_nice_value_query: share.niceValue,
    max_execution_time: Math.max(0.05, remainingMs / 1000),
    max_memory_usage: String(share.memoryBytes),
    // Spills to disk before failing.
    max_bytes_before_external_group_by: String(Math.floor(share.memoryBytes / 2)),
    max_bytes_before_external_sort: String(Math.floor(share.memoryBytes / 2)),
    // By default ClickHouse may build the hash table from the events instead of the joined rows:
    // 2.5 times slower over ten million events, with four times the memory.
    query_plan_join_swap_table: 'false',
    // Expressions that ClickHouse compiles from their third execution on fail for conditions on
    // LowCardinality columns: "Invalid cast from LowCardinality(UInt8) to native type" (26.7).
    // Without them, thirteen questions over ten million events took 1.005 times the CPU (median; at
    // most 1.03).
    compile_expressions: 0,
    // Both sides of `compare` read one state of every table. ClickHouse's default, which a profile
    // of the server may change.
    enable_shared_storage_snapshot_in_query: 1,
    max_query_size: String(STATEMENT_BYTES_MAX),
    max_result_rows: String(RESULT_ROWS_MAX),
    max_result_bytes: String(RESULT_BYTES_MAX),
    exact_rows_before_limit: 1,
    // Reports late failures as errors instead of broken answers, because rejected guesses must be
    // recognized.
    wait_end_of_query: 1,
    // Answers below this size are buffered in memory: they need no space on ClickHouse's disk.
    http_response_buffer_size: String(ANSWER_BUFFER_BYTES),
    date_time_output_format: 'iso',
    // Tells infinity from a missing number, which is NaN: engine-numbers.ts reads both.
    output_format_json_quote_denormals: 1,
  };
}

export interface QueryCaller {
  /** Prefix of the query ids, which links ClickHouse's logs to the request. */
  readonly requestId: string;
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal;
  readonly share: Pick<QueryShare, 'current' | 'raiseMemory'>;
  /** As of performance.now(). */
  readonly deadlineMs: number;
}

/** The execution rejects with a PublicError or AnswerNotWanted. */
export function beginExecution(deps: ExecuteDeps, asker: QueryCaller): Execution {
  const { signal, share, deadlineMs } = asker;
  const stopping: Promise<void>[] = [];

  async function runOnce(statement: Statement, stop: AbortSignal): Promise<EngineBytes> {
    stop.throwIfAborted();
    const queryId = `${asker.requestId}-${randomUUID()}`;
    const settings = settingsFor(share.current(), deadlineMs - performance.now());
    const connection = new AbortController();
    const asking = ask(deps, { statement, queryId, settings, signal: connection.signal });
    try {
      return await orAborted(asking, stop);
    } catch (cause) {
      if (stop.aborted) stopping.push(endQuery(deps, { queryId, asking, connection }));
      throw cause;
    }
  }

  async function runForBytes(statement: Statement): Promise<EngineBytes> {
    const deadline = AbortSignal.timeout(Math.max(1, Math.ceil(deadlineMs - performance.now()) + GRACE_MS));
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

const KILL_EVERY_MS = 100;
const END_TIMEOUT_MS = 10_000;

interface Running {
  readonly queryId: string;
  readonly asking: Promise<unknown>;
  readonly connection: AbortController;
}

/**
 * Sends KILL QUERY until the query has ended. Once is not enough, because a query that was just
 * sent may not be known yet. The connection stays open until then, because its response shows that
 * the query has ended.
 */
async function endQuery(deps: ExecuteDeps, { queryId, asking, connection }: Running): Promise<void> {
  const ended = asking.then(
    () => true,
    () => true,
  );
  const giveUpAt = performance.now() + END_TIMEOUT_MS;
  do {
    await stopQuery(deps, queryId);
  } while (!(await Promise.race([ended, delay(KILL_EVERY_MS, false)])) && performance.now() < giveUpAt);
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
    // Sends long lists in the body, because a proxy in front of ClickHouse may limit URLs to 8 KiB.
    use_multipart_params_auto: true,
    format: 'JSONCompact',
    query_id: queryId,
    abort_signal: signal,
    clickhouse_settings: settings,
  });
  return readBytes(result);
}
