// Shards and placements in PostgreSQL: the registry, where a new project goes, and the states of a
// move.
import { FIRST_SHARD } from '../platform/clickhouse/shards.js';
import { PublicError } from '../platform/errors.js';
import { type ProjectId, toProjectId } from '../platform/ids.js';
import type { Postgres } from '../platform/postgres/client.js';

export interface RegisteredShard {
  readonly id: number;
  /** With passwords: not for messages. */
  readonly urls: readonly string[];
  readonly accepts_new: boolean;
}

export const listRegistered = (postgres: Postgres): PromiseLike<readonly RegisteredShard[]> =>
  postgres('shards').orderBy('id').select('id', 'urls', 'accepts_new');

// Of the events of five weeks, and of the projects that have sent none, as one event each.
const LOADS = `
  SELECT shards.id, coalesce(sum(load.events), 0) AS events
  FROM shards LEFT JOIN (
    SELECT coalesce(placed.shard, 1) AS shard, 1 + coalesce(sum(usage.events_stored), 0) AS events
    FROM projects
    LEFT JOIN project_placements AS placed ON placed.project_id = projects.id
    LEFT JOIN usage_days AS usage ON usage.project_id = projects.id AND usage.day > current_date - 35
    WHERE projects.deleted_at IS NULL
    GROUP BY projects.id, placed.shard
  ) AS load ON load.shard = shards.id
  WHERE shards.accepts_new AND shards.id <> ?
  GROUP BY shards.id ORDER BY events, shards.id LIMIT 1`;

/**
 * Places a new project on the emptiest shard that accepts new ones. With one shard there is nothing
 * to do. Throws unavailable when no shard accepts projects.
 */
export async function placeProject(postgres: Postgres, projectId: ProjectId): Promise<void> {
  const shards = await listRegistered(postgres);
  if (shards.length <= 1) return;
  const shard = await emptiestShard(postgres);
  await postgres('project_placements').insert({ project_id: projectId, shard });
  await addTraces(postgres, projectId, [shard]);
}

/** Of those that accept new projects. Throws unavailable when there is none. */
export async function emptiestShard(postgres: Postgres, except = 0): Promise<number> {
  const { rows } = await postgres.raw<{ rows: { id: number }[] }>(LOADS, [except]);
  if (rows[0] === undefined) throw new PublicError('unavailable', 'no database accepts new projects');
  return rows[0].id;
}

/** Projects that live on the shard. */
export async function listHomes(postgres: Postgres, shard: number): Promise<readonly ProjectId[]> {
  const ids: string[] = await postgres('projects')
    .leftJoin('project_placements AS placed', 'placed.project_id', 'projects.id')
    .whereRaw('coalesce(placed.shard, ?) = ?', [FIRST_SHARD, shard])
    .whereNull('deleted_at')
    .orderBy('projects.id')
    .pluck('projects.id');
  return ids.map(toProjectId);
}

interface Move {
  readonly projectId: ProjectId;
  readonly from: number;
  readonly to: number;
}

/** From now on nothing is inserted for the project. Waits for projections that have begun. */
export async function beginMove(postgres: Postgres, { projectId, from, to }: Move): Promise<void> {
  await postgres.transaction(async (transaction) => {
    await addTraces(transaction, projectId, [from, to]);
    await transaction('project_placements')
      .insert({ project_id: projectId, shard: from, state: 'moving' })
      .onConflict('project_id')
      .merge({ state: 'moving' })
      .where('project_placements.shard', from);
  });
}

export async function cancelMove(postgres: Postgres, projectId: ProjectId): Promise<void> {
  await postgres('project_placements').where({ project_id: projectId, state: 'moving' }).update({ state: 'home' });
}

/** Throws when the placement has changed since the move began. */
export async function completeMove(
  postgres: Postgres,
  { projectId, from, to, epoch }: Move & { readonly epoch: number },
): Promise<void> {
  const moved = await postgres('project_placements')
    .where({ project_id: projectId, shard: from, epoch, state: 'moving' })
    .update({ shard: to, epoch: epoch + 1, state: 'home' });
  if (moved !== 1) throw new Error(`the placement of the project ${projectId} has changed during the move`);
}

export async function addTraces(postgres: Postgres, projectId: ProjectId, shards: readonly number[]): Promise<void> {
  await postgres('project_traces')
    .insert(shards.map((shard) => ({ project_id: projectId, shard })))
    .onConflict(['project_id', 'shard'])
    .ignore();
}

/** It accepts no projects yet. Resolves with its id. */
export async function registerShard(postgres: Postgres, urls: readonly string[]): Promise<number> {
  const { rows } = await postgres.raw<{ rows: { id: number }[] }>(
    'INSERT INTO shards (id, urls, accepts_new) SELECT max(id) + 1, ?::text[], false FROM shards RETURNING id',
    [[...urls]],
  );
  return rows[0]?.id ?? FIRST_SHARD;
}

export async function setAcceptsNew(postgres: Postgres, shard: number, acceptsNew: boolean): Promise<void> {
  await postgres('shards').where({ id: shard }).update({ accepts_new: acceptsNew });
}
