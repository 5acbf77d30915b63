// The deletion of a project's data: steps that may be repeated, and are, until a run finds nothing and nothing more can come.
import { findPendingSince } from '../identity/sequence.js';
import { forgetRejected } from '../ingest/rejected-store.js';
import { type ClickHouseClient, READ_ONLY } from '../platform/clickhouse/client.js';
import type { ProjectId } from '../platform/ids.js';
import { type ErasureDeps, outwaitIngestion } from './erase-people.js';
import { forgetParkedCalls } from './identities.js';
import { type DeletedProject, deleteProjectRows, forgetProjectUpTo } from './project-store.js';
import { mayHold, purgeClaims } from './purge-people.js';
import { rewriteClickHouse } from './rewrite-files.js';
import { shareWatermarks } from './share-watermarks.js';
import type { ForgottenPeople } from './watermarks.js';

// A process that cannot ask PostgreSQL believes a key for up to 15 minutes (access/credentials.ts).
const KEYS_LIVE_ON_MS = 20 * 60_000;

/**
 * Resolves with whether it is done: false as long as there was something to delete, or something may still come. What is in
 * the databases goes with the first run; the files are rewritten with the last.
 */
export async function deleteProjectData(
  deps: ErasureDeps & { forgotten: ForgottenPeople },
  project: DeletedProject,
  now: number,
): Promise<boolean> {
  const { clickhouse, postgres, redis } = deps;
  const { projectId } = project;
  const cutMs = project.deletedAtMs + KEYS_LIVE_ON_MS;
  await forgetProjectUpTo(postgres, projectId, cutMs);
  await shareWatermarks(deps);
  await outwaitIngestion(deps, [project]);
  // Looked at before the rows are: an identify call that is applied in between is found by the next run.
  const mayMoreCome = now <= cutMs || (await findPendingSince(redis, cutMs)).length > 0;
  await forgetRejected(redis, projectId, now);
  const inPostgres = await deleteProjectRows(postgres, projectId);
  const inClickHouse = await deleteFromClickHouse(clickhouse, projectId);
  if (mayMoreCome || inPostgres + inClickHouse > 0) return false;
  const unread = await purgeClaims(redis, deps.forgotten);
  const held = unread.find((claim) => mayHold(claim, { projectId, cutMs }));
  if (held !== undefined) throw new Error(`events in redis cannot be read: ${held.key}`, { cause: held.err });
  await forgetParkedCalls(deps.identifyQueue, ({ project: id }) => id === projectId);
  await rewriteClickHouse(clickhouse, deps.signal);
  return true;
}

const CLICKHOUSE_TABLES = ['events', 'device_map', 'profiles'] as const;

/** Resolves with how many rows there were; no query finds them any more. */
async function deleteFromClickHouse(clickhouse: ClickHouseClient, projectId: ProjectId): Promise<number> {
  let deleted = 0;
  for (const table of CLICKHOUSE_TABLES) {
    const result = await clickhouse.query({
      query: `SELECT toUInt32(count()) AS rows FROM ${table} WHERE project_id = {projectId:UUID}`,
      query_params: { projectId },
      clickhouse_settings: READ_ONLY,
      format: 'JSONEachRow',
    });
    const [row] = await result.json<{ rows: number }>();
    if (row === undefined || row.rows === 0) continue;
    deleted += row.rows;
    await clickhouse.command({
      query: `DELETE FROM ${table} WHERE project_id = {projectId:UUID}`,
      query_params: { projectId },
      clickhouse_settings: { lightweight_deletes_sync: '2' },
    });
  }
  return deleted;
}
