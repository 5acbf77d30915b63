// Deletion of the data of deleted projects: first the rows, in steps that are repeated until a run
// finds nothing and nothing more can arrive; then the files, which are rewritten once for all
// projects whose rows are deleted.
import { forgetMissed } from '../catalog/missed-projects.js';
import { findPendingSince } from '../identity/sequence.js';
import { forgetDropped } from '../ingest/drop/counts.js';
import { forgetRejected } from '../ingest/rejected/store.js';
import { removeMailsOf } from '../mail/queue.js';
import { type ClickHouseClient, READ_ONLY, rowsOf } from '../platform/clickhouse/client.js';
import type { Shards } from '../platform/clickhouse/shards.js';
import { requireAnswers } from '../platform/clickhouse/silent-hosts.js';
import type { ProjectId } from '../platform/ids.js';
import type { Logger } from '../platform/log.js';
import { withAdvisoryLock } from '../platform/postgres/advisory-lock.js';
import { type ErasureDeps, requireSettled, waitForIngestion } from './erase-people.js';
import { forgetFailedCalls } from './identities.js';
import { CLICKHOUSE_TABLES } from './personal-data.js';
import { type DeletedProject, deleteProjectRows, forgetProjectUpTo, hideSubjects } from './project-store.js';
import { publishTombstones } from './publish-tombstones.js';
import { mayHold, purgePayloads } from './purge-people.js';
import { rewritePostgres, rewriteRedis } from './rewrite-files.js';
import { rewriteTraces } from './rewrite-traces.js';
import type { ErasureTombstones } from './tombstones.js';

// A process that cannot reach PostgreSQL accepts a cached key for up to 15 minutes
// (access/credentials.ts).
const KEYS_LIVE_ON_MS = 20 * 60_000;

type DeletionDeps = ErasureDeps & { readonly forgotten: ErasureTombstones };

/**
 * Deletes the rows of the project in every database. Resolves with true when there was nothing left
 * to delete and nothing more can arrive.
 */
export async function deleteProjectData(deps: ErasureDeps, project: DeletedProject, now: number): Promise<boolean> {
  const { shards, postgres, redis } = deps;
  const { projectId } = project;
  const erasedThroughMs = lastPossibleEvent(project);
  await forgetProjectUpTo(postgres, projectId, erasedThroughMs);
  await publishTombstones(deps);
  await requireSettled(deps, [project]);
  await requireAnswers(await shards.tracesOf(projectId));
  await waitForIngestion(deps, [project]);
  // Checked before the rows are deleted: an identify call that is applied in between is found by
  // the next run.
  const mayMoreCome = now <= erasedThroughMs || (await findPendingSince(redis, erasedThroughMs)).length > 0;
  await forgetRejected(redis, projectId, now);
  await forgetDropped(redis, projectId, now);
  await forgetMissed(redis, projectId);
  const inPostgres = await deleteProjectRows(postgres, projectId);
  const mails = await removeMailsOf(deps.mailQueue, projectId);
  const inClickHouse = await deleteFromShards(shards, projectId);
  return !mayMoreCome && inPostgres + mails + inClickHouse === 0;
}

const lastPossibleEvent = ({ deletedAtMs }: DeletedProject): number => deletedAtMs + KEYS_LIVE_ON_MS;

/**
 * Removes the remaining data of the projects from queues and files, once for all of them. Resolves
 * with the completed projects: an unreadable payload in Redis blocks the projects that it may
 * belong to.
 */
export async function purgeProjects(
  deps: DeletionDeps & { log: Logger },
  projects: readonly DeletedProject[],
): Promise<readonly DeletedProject[]> {
  const unread = await purgePayloads(deps.redis, deps.forgotten);
  for (const { key, err } of unread) deps.log.error({ err, key }, 'events in redis cannot be read');
  const readable = projects.filter((project) => {
    const { projectId } = project;
    return !unread.some((payload) => mayHold(payload, { projectId, erasedThroughMs: lastPossibleEvent(project) }));
  });
  if (readable.length === 0) return [];
  const ids = new Set(readable.map(({ projectId }) => projectId));
  const names: ReadonlySet<string> = ids;
  await forgetFailedCalls(deps.identifyQueue, ({ project }) => names.has(project));
  const rewritten = await rewriteTraces(deps, ids);
  const purged = readable.filter(({ projectId }) => rewritten.has(projectId));
  if (purged.length === 0) return [];
  for (const { projectId } of purged) await hideSubjects(deps.postgres, projectId, deps.hashId);
  // Purges of people rewrite the same files.
  await withAdvisoryLock(deps.postgres, { of: 'purge', signal: deps.signal }, async () => {
    await rewritePostgres(deps.config, deps.signal);
    await rewriteRedis(deps.redis, deps.signal);
  });
  return purged;
}

/** On every host that may have rows. Resolves with the number of deleted rows. */
async function deleteFromShards(shards: Shards, projectId: ProjectId): Promise<number> {
  let deleted = 0;
  for (const { hosts } of await shards.tracesOf(projectId)) {
    for (const { clickhouse } of hosts) deleted += await deleteFromClickHouse(clickhouse, projectId);
  }
  return deleted;
}

/** Resolves with the number of deleted rows; queries no longer return them. */
async function deleteFromClickHouse(clickhouse: ClickHouseClient, projectId: ProjectId): Promise<number> {
  let deleted = 0;
  for (const { name } of CLICKHOUSE_TABLES) {
    const query = `SELECT toUInt32(count()) AS rows FROM ${name} WHERE project_id = {projectId:UUID}`;
    const [row] = await rowsOf<{ rows: number }>(clickhouse, query, { projectId }, READ_ONLY);
    if (row === undefined || row.rows === 0) continue;
    deleted += row.rows;
    await clickhouse.command({
      query: `DELETE FROM ${name} WHERE project_id = {projectId:UUID}`,
      query_params: { projectId },
      clickhouse_settings: { lightweight_deletes_sync: '2' },
    });
  }
  return deleted;
}
