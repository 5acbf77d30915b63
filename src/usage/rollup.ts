// Usage rollup: daily totals from Redis (accepted events, queries) and ClickHouse (stored events by
// time of receipt, so that an event that was queued for a day counts for the day it was sent).
// Totals are recomputed in full, so runs may be repeated, interrupted, or overlap.
import { type ClickHouseClient, READ_ONLY } from '../platform/clickhouse/client.js';
import type { Postgres } from '../platform/postgres/client.js';
import type { Redis } from '../platform/redis/client.js';
import { forgetCounts, readCounts } from './counters.js';
import { toDay } from './range.js';
import { saveCounts, saveStored } from './store.js';

export interface RollupDeps {
  readonly redis: Redis;
  readonly postgres: Postgres;
  readonly clickhouse: ClickHouseClient;
}

const DAY_MS = 24 * 60 * 60_000;
// A request counts for the day of its acceptance, so totals of days before yesterday no longer
// change.
const COUNTING_DAYS = 2;

/**
 * Rolls up the last `days` days, today included. Resolves with false when there was nothing to
 * copy.
 */
export async function rollUpCounts({ redis, postgres }: RollupDeps, days: number, now: Date): Promise<boolean> {
  let isAnythingCounted = false;
  for (let age = 0; age < days; age += 1) {
    const day = toDay(new Date(now.getTime() - age * DAY_MS));
    const counts = await readCounts(redis, day);
    if (counts.length === 0) continue;
    isAnythingCounted = true;
    await saveCounts(postgres, day, counts);
    if (age >= COUNTING_DAYS) await forgetCounts(redis, day);
  }
  return isAnythingCounted;
}

export async function rollUpStored({ postgres, clickhouse }: RollupDeps, days: number, now: Date): Promise<void> {
  const range = { from: toDay(new Date(now.getTime() - (days - 1) * DAY_MS)), to: toDay(now) };
  const result = await clickhouse.query({
    query: `SELECT toString(project_id) AS project_id, toString(toDate(received_at)) AS day, toUInt32(count()) AS events
      FROM events
      WHERE received_at >= toDateTime64({from:Date}, 3, 'UTC') AND received_at < toDateTime64({to:Date} + 1, 3, 'UTC')
      GROUP BY project_id, day`,
    query_params: range,
    clickhouse_settings: READ_ONLY,
    format: 'JSONEachRow',
  });
  await saveStored(postgres, range, await result.json());
}
