// Usage rollup: daily totals from Redis (accepted events, queries) and ClickHouse (stored events by
// time of receipt, so that an event that was queued for a day counts for the day it was sent).
// Totals are recomputed in full, so runs may be repeated, interrupted, or overlap.
import { READ_ONLY, rowsOf } from '../platform/clickhouse/client.js';
import { FIRST_SHARD, type Shard, type Shards } from '../platform/clickhouse/shards.js';
import { groupBy } from '../platform/group-by.js';
import type { Postgres } from '../platform/postgres/client.js';
import type { Redis } from '../platform/redis/client.js';
import { DAY_MS, toDay } from '../platform/utc-day.js';
import { forgetCounts, readCounts } from './counters.js';
import { saveCounts, saveStored } from './store.js';

export interface RollupDeps {
  readonly redis: Redis;
  readonly postgres: Postgres;
  readonly shards: Shards;
}

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
    const read = await readCounts(redis, day);
    if (read.counts.length === 0) continue;
    isAnythingCounted = true;
    await saveCounts(postgres, day, read);
    if (age >= COUNTING_DAYS) await forgetCounts(redis, day);
  }
  return isAnythingCounted;
}

/** Rejects when any shard does not answer, because a smaller sum would look right. */
export async function rollUpStored({ postgres, shards }: RollupDeps, days: number, now: Date): Promise<void> {
  const range = { from: toDay(new Date(now.getTime() - (days - 1) * DAY_MS)), to: toDay(now) };
  const counts = await Promise.all((await shards.read()).map((shard) => countStored(shard, range)));
  const found = counts.flat();
  const counted = counts.length === 1 ? found : await countedAtHome(shards, found, range);
  const rows = counted.map(({ project_id, day, events }) => ({ project_id, day, events }));
  await saveStored(postgres, range, rows);
}

/**
 * While a project moves it has rows on two shards, and rows may remain at the old one. Such
 * projects are counted once more where they live now. Rejects when one moves meanwhile.
 */
async function countedAtHome(shards: Shards, found: readonly FoundRow[], range: Range): Promise<readonly FoundRow[]> {
  const homes = await shards.placementsOf([...new Set(found.map((row) => row.project_id))]);
  const unclear = new Set(
    found.filter(({ project_id: id, shard }) => homes.get(id)?.shard !== shard).map((row) => row.project_id),
  );
  if (unclear.size === 0) return found;
  const again: FoundRow[] = [];
  for (const [id, projects] of groupBy([...unclear], (project) => homes.get(project)?.shard ?? FIRST_SHARD)) {
    again.push(...(await countStored(await shards.get(id), range, projects)));
  }
  const now = await shards.placementsOf([...unclear]);
  if ([...unclear].some((id) => now.get(id)?.epoch !== homes.get(id)?.epoch)) {
    throw new Error('a project was moved while its events were counted');
  }
  return [...found.filter((row) => !unclear.has(row.project_id)), ...again];
}

interface Range {
  readonly from: string;
  readonly to: string;
}

interface StoredRow {
  readonly project_id: string;
  readonly day: string;
  readonly events: number;
}

type FoundRow = StoredRow & { readonly shard: number };

/** Counts the stored events of all projects, or of the given ones. */
async function countStored({ id, clickhouse }: Shard, range: Range, projects?: readonly string[]): Promise<FoundRow[]> {
  const query = `SELECT toString(project_id) AS project_id, toString(toDate(received_at)) AS day, toUInt32(count()) AS events
    FROM events
    WHERE received_at >= toDateTime64({from:Date}, 3, 'UTC') AND received_at < toDateTime64({to:Date} + 1, 3, 'UTC')
      ${projects === undefined ? '' : 'AND project_id IN {projects:Array(UUID)}'}
    GROUP BY project_id, day`;
  const params = { ...range, ...(projects !== undefined && { projects }) };
  const rows = await rowsOf<StoredRow>(clickhouse, query, params, READ_ONLY);
  return rows.map((row) => ({ ...row, shard: id }));
}
