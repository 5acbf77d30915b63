// KILL QUERY for queries whose client has disconnected.
import type { Logger } from '../log.js';
import type { ClickHouseClient } from './client.js';

const KILL_TIMEOUT_MS = 2_000;
const STOP_TIMEOUT_MS = 10_000;

interface KillDeps {
  readonly clickhouse: ClickHouseClient;
  readonly log: Logger;
}

/**
 * Closing the connection is not enough: the engine may only notice when it has rows to send. ASYNC,
 * because nothing depends on the moment of its end.
 */
export const killQuery = (deps: KillDeps, queryId: string): Promise<void> =>
  kill(deps, { queryId, mode: 'ASYNC', timeoutMs: KILL_TIMEOUT_MS });

/** Resolves once the engine has ended the query, or after ten seconds. Never rejects. */
export const stopQuery = (deps: KillDeps, queryId: string): Promise<void> =>
  kill(deps, { queryId, mode: 'SYNC', timeoutMs: STOP_TIMEOUT_MS });

async function kill(
  { clickhouse, log }: KillDeps,
  { queryId, mode, timeoutMs }: { queryId: string; mode: 'ASYNC' | 'SYNC'; timeoutMs: number },
): Promise<void> {
  try {
    await clickhouse.command({
      query: `KILL QUERY WHERE query_id = {query_id:String} ${mode}`,
      query_params: { query_id: queryId },
      // The caller does not wait for an engine that does not respond.
      abort_signal: AbortSignal.timeout(timeoutMs),
    });
  } catch (err) {
    log.warn({ err, queryId }, 'a query could not be killed');
  }
}
