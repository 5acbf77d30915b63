// The rollup: totals of days from Redis (accepted events, queries) and from ClickHouse (stored events, by when they were
// received, so that an event which waited a day counts for the day it was sent). Every value is computed anew, whole, so a run may be
// repeated, cut short, or overlap another.
import type { ClickHouseClient } from '../platform/clickhouse/client.js';
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
// A request belongs to the day it was accepted on: a day before yesterday cannot count up any more.
const COUNTING_DAYS = 2;

/** The last `days` days up to today. Resolves with whether there was anything to copy. */
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
    format: 'JSONEachRow',
  });
  await saveStored(postgres, range, await result.json());
}
