// Shards and placements in PostgreSQL: the registry, where a new project goes, and the states of a
// move.
import { FIRST_SHARD } from '../platform/clickhouse/shards.js';
import { PublicError } from '../platform/errors.js';
import type { ProjectId } from '../platform/ids.js';
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
  WHERE shards.accepts_new
  GROUP BY shards.id ORDER BY events, shards.id LIMIT 1`;

/**
 * Places a new project on the emptiest shard that accepts new ones. With one shard there is nothing
 * to do. Throws unavailable when no shard accepts projects.
 */
export async function placeProject(postgres: Postgres, projectId: ProjectId): Promise<void> {
  const shards = await listRegistered(postgres);
  if (shards.length <= 1) return;
  const { rows } = await postgres.raw<{ rows: { id: number }[] }>(LOADS);
  const [emptiest] = rows;
  if (emptiest === undefined) throw new PublicError('unavailable', 'no database accepts new projects');
  await postgres('project_placements').insert({ project_id: projectId, shard: emptiest.id });
  await addTraces(postgres, projectId, [emptiest.id]);
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
