// KILL QUERY for queries whose client has disconnected.
import type { Logger } from '../log.js';
import type { ClickHouseClient } from './client.js';

const KILL_TIMEOUT_MS = 2_000;

/**
 * Closing the connection is not enough: the engine may only notice when it has rows to send. ASYNC, because nothing
 * depends on the moment of its end.
 */
export async function killQuery(deps: { clickhouse: ClickHouseClient; log: Logger }, queryId: string): Promise<void> {
  try {
    await deps.clickhouse.command({
      query: 'KILL QUERY WHERE query_id = {query_id:String} ASYNC',
      query_params: { query_id: queryId },
      // The caller does not wait for an engine that does not respond.
      abort_signal: AbortSignal.timeout(KILL_TIMEOUT_MS),
    });
  } catch (err) {
    deps.log.warn({ err, queryId }, 'a query could not be killed');
  }
}
