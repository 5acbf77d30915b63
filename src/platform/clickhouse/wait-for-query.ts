// Waits for a query of another process, which may have been killed. ClickHouse runs a query id once
// at a time (code 216), so a query that is accepted under the same id proves that the other has
// ended.
import { setTimeout as delay } from 'node:timers/promises';
import type { ClickHouseClient } from './client.js';
import { isQueryIdRunning } from './failures.js';

// Short, because a busy id is free only for short intervals.
const GAP_DELAY_MS = 10;

/** Resolves when a query with this id that was running at the time of the call has ended. */
export async function waitForQuery(clickhouse: ClickHouseClient, queryId: string): Promise<void> {
  for (;;) {
    try {
      const answer = await clickhouse.query({ query: 'SELECT 1', query_id: queryId });
      await answer.text();
      return;
    } catch (error) {
      if (!isQueryIdRunning(error)) throw error;
      await delay(GAP_DELAY_MS * Math.random());
    }
  }
}
