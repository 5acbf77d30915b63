// What a move may do at a ClickHouse server. A command can lose its lock without knowing, and a
// statement that it has sent can arrive late, when another move has begun or ended. So rows are
// copied only while a table of the move exists, which later moves drop; and rows are deleted only
// from parts that were seen before the move was found to be the current one, and that therefore
// have nothing of later moves.
import { setTimeout as delay } from 'node:timers/promises';
import { type ClickHouseClient, rowsOf } from '../platform/clickhouse/client.js';
import type { ProjectId } from '../platform/ids.js';
import { CLICKHOUSE_TABLES } from '../privacy/personal-data.js';

export interface Fence {
  /** Table of the move, at its destination. */
  readonly table: string;
  /** Queries that copy have ids with this prefix. */
  readonly queryPrefix: string;
}

/** Throws unless the move is still the current one. */
export type RequireMine = () => Promise<void>;

const POLL_MS = 100;
/** Merges that rename parts between seeing and deleting are rare. */
const ROUNDS_MAX = 50;

const nameOf = (projectId: ProjectId): string => `move_${projectId.replaceAll('-', '')}_`;

export const fenceOf = (projectId: ProjectId, move: number): Fence => ({
  table: `${nameOf(projectId)}${move}`,
  queryPrefix: nameOf(projectId),
});

/** Throws when the move is not the current one any more. */
export async function raiseFence(to: ClickHouseClient, fence: Fence, requireMine: RequireMine): Promise<void> {
  await to.command({ query: `CREATE TABLE IF NOT EXISTS ${fence.table} (n UInt8) ENGINE = Memory` });
  // A later move that has begun by now may have looked for the table before it was there.
  await requireMine();
}

/** Afterwards no earlier move of the project copies rows to the server. */
export async function dropFences(clickhouse: ClickHouseClient, projectId: ProjectId): Promise<void> {
  const prefix = nameOf(projectId);
  const tables = await rowsOf<{ name: string }>(
    clickhouse,
    'SELECT name FROM system.tables WHERE database = currentDatabase() AND startsWith(name, {prefix:String})',
    { prefix },
  );
  for (const { name } of tables) await clickhouse.command({ query: `DROP TABLE IF EXISTS ${name} SYNC` });
  const running = 'SELECT query_id FROM system.processes WHERE startsWith(query_id, {prefix:String})';
  while ((await rowsOf(clickhouse, running, { prefix })).length > 0) await delay(POLL_MS);
}

/** Resolves with the number of rows, none of which is left. */
export async function deleteSeenRows(
  clickhouse: ClickHouseClient,
  projectId: ProjectId,
  requireMine: RequireMine,
): Promise<number> {
  let deleted = 0;
  for (const { name } of CLICKHOUSE_TABLES) {
    for (let round = 0; ; round += 1) {
      const seen = await rowsOf<{ part: string; rows: number }>(
        clickhouse,
        `SELECT _part AS part, toFloat64(count()) AS rows FROM ${name} WHERE project_id = {projectId:UUID} GROUP BY part`,
        { projectId },
      );
      if (seen.length === 0) break;
      if (round === ROUNDS_MAX) throw new Error(`${name} still has rows of the project ${projectId}`);
      await requireMine();
      await clickhouse.command({
        query: `DELETE FROM ${name} WHERE project_id = {projectId:UUID} AND _part IN {parts:Array(String)}`,
        query_params: { projectId, parts: seen.map(({ part }) => part) },
        clickhouse_settings: { lightweight_deletes_sync: '2' },
      });
      if (round === 0) deleted += seen.reduce((sum, { rows }) => sum + rows, 0);
    }
  }
  return deleted;
}
