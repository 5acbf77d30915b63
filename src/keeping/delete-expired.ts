// Deletes the events of a project that are behind its edges, with the machinery of erasure: a
// lightweight delete, a count that proves it, and later a rewrite of the files (purgeExpired).
// Partitions are months of all projects, so none is dropped; parts with only expired events are,
// where a shard is one server.
import { forgetValues } from '../catalog/store.js';
import { type ClickHouseClient, READ_ONLY, rowsOf } from '../platform/clickhouse/client.js';
import { isPartGone } from '../platform/clickhouse/failures.js';
import type { Shards } from '../platform/clickhouse/shards.js';
import { requireAnswers } from '../platform/clickhouse/silent-hosts.js';
import type { Config } from '../platform/config.js';
import { type ProjectId, toProjectId } from '../platform/ids.js';
import type { Logger } from '../platform/log.js';
import type { Postgres } from '../platform/postgres/client.js';
import type { Redis } from '../platform/redis/client.js';
import { requireSettled } from '../privacy/erase-people.js';
import { letErasuresPass } from '../privacy/purge-people.js';
import { rewritePostgres, rewriteRedis } from '../privacy/rewrite-files.js';
import { rewriteTraces } from '../privacy/rewrite-traces.js';
import { addCounts, type EventCounts, goneOf, sumOf } from './event-counts.js';
import { type Edge, edgesOf, namedIn } from './keep.js';
import {
  type DueKeep,
  finishReceipt,
  listUnpurged,
  markPurged,
  type OpenReceipt,
  openReceipt,
  saveCounts,
} from './store.js';

export interface KeepingDeps {
  readonly config: Pick<Config, 'DATABASE_URL'>;
  readonly shards: Shards;
  readonly log: Logger;
  readonly postgres: Postgres;
  readonly redis: Redis;
  /** Ends every wait when the process stops. */
  readonly signal: AbortSignal;
}

/**
 * Resolves with the number of events that the receipt of the day counts, once no query returns one.
 * May be repeated: a later run of the day keeps the edges, and adds to the counts.
 */
export async function deleteExpired(
  { shards, postgres }: KeepingDeps,
  { projectId, keep }: DueKeep,
  nowMs: number,
): Promise<number> {
  await requireSettled({ shards }, [{ projectId }]);
  const traces = await shards.tracesOf(projectId);
  await requireAnswers(traces);
  const receipt = await openReceipt(postgres, { projectId, edges: edgesOf(keep, nowMs), nowMs });
  let deleted: EventCounts = [];
  // Beside its home, where a move has left rows behind.
  for (const [index, { clickhouse, hosts }] of traces.entries()) {
    const found = await countExpired(clickhouse, receipt);
    // The receipt counts what its home had.
    const isHome = index === 0;
    // Before the rows are deleted, because a crash in between would lose the counts.
    if (isHome) {
      deleted = addCounts(receipt.deleted, goneOf(receipt.pending, found));
      await saveCounts(postgres, receipt, { deleted, pending: found });
    }
    const isFound = sumOf(found) > 0;
    if (isFound) {
      // Reads of replicas need a part in each partition, which may be empty (0009_empty_parts.sql).
      if (hosts.length === 1) await dropParts(clickhouse, receipt);
      await deleteRows(clickhouse, receipt);
    }
    if (isHome) {
      deleted = addCounts(deleted, found);
      await saveCounts(postgres, receipt, { deleted, pending: [] });
    }
    // A replica may still be behind when a later run finds nothing at the first host.
    for (const host of isFound ? hosts : hosts.slice(1)) {
      const left = sumOf(await countExpired(host.clickhouse, receipt));
      if (left > 0) throw new Error(`${left} events are still at ${host.name} after they were deleted`);
    }
  }
  const events = sumOf(deleted);
  if (events > 0) await forgetValues(postgres, projectId);
  // Files of other shards may have expired events as well.
  await finishReceipt(postgres, receipt, { isPurged: events === 0 && traces.length === 1 });
  return events;
}

/**
 * Finishes a receipt of an earlier day, whose run has failed, with what it had deleted. The rest is
 * of the next night, if it is still to be deleted then.
 */
export async function closeReceipt({ shards, postgres }: KeepingDeps, receipt: OpenReceipt): Promise<void> {
  const [home] = await shards.tracesOf(receipt.projectId);
  if (home === undefined) return;
  const left = await countExpired(home.clickhouse, receipt);
  const deleted = addCounts(receipt.deleted, goneOf(receipt.pending, left));
  await saveCounts(postgres, receipt, { deleted, pending: [] });
  await finishReceipt(postgres, receipt, { isPurged: false });
}

/** Resolves once no file has what was deleted before the call. */
export async function purgeExpired(deps: KeepingDeps): Promise<void> {
  const { config, postgres, redis, signal } = deps;
  const listed = await listUnpurged(postgres);
  const ids = new Set(listed.map(({ project_id }) => toProjectId(project_id)));
  const rewritten = await rewriteTraces(deps, ids, { letOthersPass: letErasuresPass({ postgres, signal }) });
  const unpurged = listed.filter(({ project_id }) => rewritten.has(toProjectId(project_id)));
  if (unpurged.length === 0) return;
  await rewritePostgres(config, signal);
  await rewriteRedis(redis, signal);
  await markPurged(postgres, unpurged);
}

interface Expired {
  readonly projectId: ProjectId;
  readonly edges: readonly Edge[];
}

/** Beyond these, the smallest are summed as one, without a name. */
const COUNTED_TYPES_MAX = 1_000;

async function countExpired(clickhouse: ClickHouseClient, expired: Expired): Promise<EventCounts> {
  const { sql, params } = conditionOf(expired);
  const query = `SELECT event_type AS event, toFloat64(count()) AS events FROM events WHERE ${sql}
    GROUP BY event ORDER BY events DESC, event`;
  const counts = await rowsOf<{ event: string; events: number }>(clickhouse, query, params, READ_ONLY);
  const rest = counts.slice(COUNTED_TYPES_MAX);
  return rest.length === 0 ? counts : [...counts.slice(0, COUNTED_TYPES_MAX), { event: '', events: sumOf(rest) }];
}

/**
 * Drops the parts that have only expired events, which costs nothing, unlike a delete. A part never
 * changes under its name, so no event that arrives meanwhile is lost.
 */
async function dropParts(clickhouse: ClickHouseClient, expired: Expired): Promise<void> {
  const { sql, params } = conditionOf(expired);
  const query = `SELECT name FROM (SELECT _part AS name, count() AS expired FROM events WHERE ${sql} GROUP BY name) AS found
    INNER JOIN (
      SELECT name, rows FROM system.parts WHERE active AND table = 'events' AND database = currentDatabase()
    ) AS part USING (name)
    WHERE expired = rows`;
  for (const { name } of await rowsOf<{ name: string }>(clickhouse, query, params, READ_ONLY)) {
    const dropped = clickhouse.command({ query: 'ALTER TABLE events DROP PART {name:String}', query_params: { name } });
    await dropped.catch((error: unknown) => {
      if (!isPartGone(error)) throw error;
    });
  }
}

async function deleteRows(clickhouse: ClickHouseClient, expired: Expired): Promise<void> {
  const { sql, params } = conditionOf(expired);
  await clickhouse.command({
    query: `DELETE FROM events WHERE ${sql}`,
    query_params: params,
    clickhouse_settings: { lightweight_deletes_sync: '2' },
  });
}

function conditionOf({ projectId, edges }: Expired) {
  const params: Record<string, unknown> = { projectId, named: namedIn(edges) };
  const branches = edges.map(({ events, beforeMs }, index) => {
    params[`before${index}`] = beforeMs;
    if (events !== undefined) params[`types${index}`] = events;
    const types = events === undefined ? 'NOT IN {named:Array(String)}' : `IN {types${index}:Array(String)}`;
    return `(event_type ${types} AND time < fromUnixTimestamp64Milli({before${index}:Int64}))`;
  });
  return { sql: `project_id = {projectId:UUID} AND (${branches.join(' OR ')})`, params };
}
