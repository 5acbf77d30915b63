// Waiting for a query that somebody else runs, who may be dead. ClickHouse runs one query of an id at a time (code 216), so
// whoever is let in under an id is alone.
import { setTimeout as delay } from 'node:timers/promises';
import type { ClickHouseClient } from './client.js';
import { isQueryIdRunning } from './failures.js';

// The gaps between the queries of a busy id are short.
const GAP_DELAY_MS = 10;

/** Resolves once a query of this id that ran when this was called has ended. */
export async function outwaitQuery(clickhouse: ClickHouseClient, queryId: string): Promise<void> {
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
