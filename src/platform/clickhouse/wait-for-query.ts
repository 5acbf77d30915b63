// Waits for a query of another process, which may have been killed. ClickHouse runs a query id once
// at a time (code 216), so a query that is accepted under the same id proves that the other has
// ended.
import { setTimeout as delay } from 'node:timers/promises';
import type { ClickHouseClient } from './client.js';
import { isQueryIdRunning } from './failures.js';
import { type RunningInserts, watchOf } from './running-inserts.js';

// Short, because a busy id is free only for short intervals.
const GAP_DELAY_MS = 10;
const HOSTS_DELAY_MS = 100;

/** Resolves when a query with this id that was running at the time of the call has ended. */
export async function waitForQuery(clickhouse: ClickHouseClient, queryId: string): Promise<void> {
  const hosts = watchOf(clickhouse);
  if (hosts !== undefined) return waitForHosts(hosts, queryId);
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

/** Where several hosts take queries, each says how long its own have been running. */
async function waitForHosts(hosts: RunningInserts, queryId: string): Promise<void> {
  const calledAt = performance.now();
  while ((await hosts.count(queryId, (performance.now() - calledAt) / 1000)) > 0) await delay(HOSTS_DELAY_MS);
}
