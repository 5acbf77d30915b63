// Shards and placements in PostgreSQL: the registry, where a new project goes, and the states of a
// move.
import { FIRST_SHARD, type ShardRow } from '../platform/clickhouse/shards.js';
import { PublicError } from '../platform/errors.js';
import { type ProjectId, toProjectId } from '../platform/ids.js';
import type { Postgres, Transaction } from '../platform/postgres/client.js';
import { chooseShard } from './choose-shard.js';

export interface RegisteredShard extends ShardRow {
  readonly accepts_new: boolean;
}

export const listRegistered = (postgres: Postgres): PromiseLike<readonly RegisteredShard[]> =>
  postgres('shards').whereNull('removed_at').orderBy('id').select('id', 'urls', 'accepts_new', 'cluster');

/** Throws when there is no such shard. */
export function requireRegistered(registered: readonly RegisteredShard[], shard: number): RegisteredShard {
  const found = registered.find(({ id }) => id === shard);
  if (found === undefined) throw new Error(`there is no shard ${shard}`);
  return found;
}

export const isRemoved = async (postgres: Postgres, shard: number): Promise<boolean> =>
  (await postgres('shards').where({ id: shard }).whereNotNull('removed_at').first('id')) !== undefined;

// Load of each shard: events of five weeks; a project that has sent none counts as one.
const LOADS = `
  SELECT shards.id, coalesce(sum(load.events), 0) AS events
  FROM shards LEFT JOIN (
    SELECT coalesce(placed.shard, 1) AS shard, 1 + coalesce(sum(usage.events_stored), 0) AS events
    FROM projects
    LEFT JOIN project_placements AS placed ON placed.project_id = projects.id
    LEFT JOIN usage_days AS usage ON usage.project_id = projects.id AND usage.day > (now() AT TIME ZONE 'UTC')::date - 35
    WHERE projects.deleted_at IS NULL
    GROUP BY projects.id, placed.shard
  ) AS load ON load.shard = shards.id
  WHERE shards.accepts_new AND shards.id <> ?
  GROUP BY shards.id`;

/**
 * Places a new project on the emptiest shard that accepts new ones, in the transaction that creates
 * it. With one shard there is nothing to do. Throws unavailable when no shard accepts projects.
 */
export async function placeProject(postgres: Transaction, projectId: ProjectId): Promise<void> {
  // Until the project is there, a drain waits to take the shard out of those that accept it.
  const shards = await postgres('shards').whereNull('removed_at').forShare().select('id');
  if (shards.length <= 1) return;
  const shard = await emptiestShard(postgres);
  await postgres('project_placements').insert({ project_id: projectId, shard });
  await addTraces(postgres, projectId, [shard]);
}

/** The emptiest shard that accepts new projects. Throws unavailable when there is none. */
export async function emptiestShard(postgres: Postgres, except = 0): Promise<number> {
  const { rows } = await postgres.raw<{ rows: { id: number; events: string }[] }>(LOADS, [except]);
  const chosen = chooseShard(rows.map(({ id, events }) => ({ id, events: Number(events) })));
  if (chosen === undefined) {
    const which = except === 0 ? 'database' : 'other shard';
    throw new PublicError('unavailable', `no ${which} accepts new projects`);
  }
  return chosen;
}

/** Any project that lives on the shard and is not deleted. Undefined when there is none. */
export async function findAnyAt(postgres: Postgres, shard: number): Promise<ProjectId | undefined> {
  const row: { id: string } | undefined = await postgres('projects')
    .leftJoin('project_placements AS placed', 'placed.project_id', 'projects.id')
    .whereRaw('coalesce(placed.shard, ?) = ?', [FIRST_SHARD, shard])
    .whereNull('deleted_at')
    .orderBy('projects.id')
    .first('projects.id');
  return row && toProjectId(row.id);
}

interface Move {
  readonly projectId: ProjectId;
  readonly from: number;
  readonly to: number;
}

/** A move by its number; each move of a project has the next one. */
export interface NumberedMove {
  readonly projectId: ProjectId;
  readonly move: number;
}

/**
 * From now on no insert of the project begins. Resolves with the number of the move.
 */
export async function beginMove(postgres: Postgres, { projectId, from, to }: Move): Promise<number> {
  return postgres.transaction(async (transaction) => {
    await addTraces(transaction, projectId, [from, to]);
    const [begun]: { move: number }[] = await transaction('project_placements')
      .insert({ project_id: projectId, shard: from, state: 'moving', move: 1 })
      .onConflict('project_id')
      .merge({ state: 'moving', move: transaction.raw('project_placements.move + 1') })
      .where('project_placements.shard', from)
      .returning('move');
    if (begun === undefined) throw new Error(`the project ${projectId} has been moved meanwhile; begin again`);
    return begun.move;
  });
}

/**
 * Waits for projections that began before the move: each locks its entries until it has inserted
 * them. The lock of a placement is not enough, because a project of one shard has none.
 */
export async function waitForProjections(postgres: Postgres, projectId: ProjectId): Promise<void> {
  await postgres.raw('SELECT FROM identity_outbox WHERE project_id = ? FOR SHARE', [projectId]);
}

/**
 * What was copied is to be deleted again. Resolves with false when the move has ended before, or
 * is not the last one.
 */
export async function cancelMove(postgres: Postgres, { projectId, move }: NumberedMove): Promise<boolean> {
  const clearAfter = postgres.raw('GREATEST(clear_after, now())');
  const changed = await postgres('project_placements')
    .where({ project_id: projectId, state: 'moving', move })
    .update({ state: 'home', clear_after: clearAfter });
  return changed === 1;
}

/**
 * Throws when the move is not the current one any more. After `clearAfterMs` no query reads the old
 * place.
 */
export async function completeMove(
  postgres: Postgres,
  { projectId, move, from, to, clearAfterMs }: Move & NumberedMove & { readonly clearAfterMs: number },
): Promise<void> {
  const clearAfter = postgres.raw("now() + ? * interval '1 millisecond'", [clearAfterMs]);
  const moved = await postgres('project_placements')
    .where({ project_id: projectId, shard: from, state: 'moving', move })
    .update({ shard: to, epoch: postgres.raw('epoch + 1'), state: 'home', clear_after: clearAfter });
  if (moved !== 1) throw lost(projectId);
}

/** Throws when the move is not the current one any more, or not in that state. */
export async function requireMove(
  postgres: Postgres,
  { projectId, move, state }: NumberedMove & { readonly state: 'home' | 'moving' },
): Promise<void> {
  const found = await postgres('project_placements').where({ project_id: projectId, move, state }).first('move');
  if (found === undefined) throw lost(projectId);
}

const lost = (projectId: ProjectId): Error =>
  new Error(`the placement of the project ${projectId} has changed during the move`);

export interface UnsettledMove extends NumberedMove {
  readonly shard: number;
  readonly isMoving: boolean;
}

/** Moves that have not ended, and projects with rows on shards where they do not live. */
export async function listUnsettled(postgres: Postgres): Promise<readonly UnsettledMove[]> {
  const rows: { project_id: string; shard: number; move: number; state: string }[] = await postgres(
    'project_placements',
  )
    .where({ state: 'moving' })
    .orWhere('clear_after', '<=', postgres.fn.now())
    .orderBy('project_id')
    .select('project_id', 'shard', 'move', 'state');
  return rows.map(({ project_id, shard, move, state }) => ({
    ...{ projectId: toProjectId(project_id), shard, move },
    isMoving: state === 'moving',
  }));
}

/** Undefined when the project has never been placed or moved. */
export async function findMove(postgres: Postgres, projectId: ProjectId): Promise<UnsettledMove | undefined> {
  const row: { shard: number; move: number; state: string } | undefined = await postgres('project_placements')
    .where({ project_id: projectId })
    .first('shard', 'move', 'state');
  return row && { projectId, shard: row.shard, move: row.move, isMoving: row.state === 'moving' };
}

/** Milliseconds until no query reads a place that the last move has left. */
export async function readLeftMs(postgres: Postgres, projectId: ProjectId): Promise<number> {
  const row: { ms: string | null } | undefined = await postgres('project_placements')
    .where({ project_id: projectId })
    .first(postgres.raw('extract(epoch FROM clear_after - now()) * 1000 AS ms'));
  return Math.max(0, Number(row?.ms ?? 0));
}

export async function markCleared(postgres: Postgres, { projectId, move }: NumberedMove): Promise<void> {
  await postgres('project_placements')
    .where({ project_id: projectId, move, state: 'home' })
    .update({ clear_after: null });
}

export async function addTraces(postgres: Postgres, projectId: ProjectId, shards: readonly number[]): Promise<void> {
  await postgres('project_traces')
    .insert(shards.map((shard) => ({ project_id: projectId, shard })))
    .onConflict(['project_id', 'shard'])
    .ignore();
}

/** The number that the next shard gets: greater than that of any before, also of those removed. */
export async function nextShardNumber(postgres: Postgres): Promise<number> {
  const row = await postgres('shards').max('id AS id').first<{ id: number }>();
  return row.id + 1;
}

/** It accepts no projects yet. Resolves with its id. */
export async function registerShard(
  postgres: Postgres,
  urls: readonly string[],
  cluster: string | null = null,
): Promise<number> {
  const { rows } = await postgres.raw<{ rows: { id: number }[] }>(
    'INSERT INTO shards (id, urls, accepts_new, cluster) SELECT max(id) + 1, ?::text[], false, ?::text FROM shards RETURNING id',
    [[...urls], cluster],
  );
  return rows[0]?.id ?? FIRST_SHARD;
}

/** Null for an address that leads to one host. Throws when there is no such shard. */
export async function setCluster(postgres: Postgres, shard: number, cluster: string | null): Promise<void> {
  const changed = await postgres('shards').where({ id: shard }).update({ cluster });
  if (changed !== 1) throw new Error(`there is no shard ${shard}`);
}

export async function setUrls(postgres: Postgres, shard: number, urls: readonly string[]): Promise<void> {
  await postgres('shards')
    .where({ id: shard })
    .update({ urls: [...urls] });
}

/** Nothing asks it any more. Its addresses, which contain passwords, are forgotten. */
export async function markRemoved(postgres: Postgres, shard: number): Promise<void> {
  await postgres.transaction(async (transaction) => {
    await transaction('project_traces').where({ shard }).delete();
    // Of deleted projects only.
    await transaction('project_placements').where({ shard }).update({ shard: FIRST_SHARD });
    await transaction('shards').where({ id: shard }).update({ urls: [], removed_at: transaction.fn.now() });
  });
}

/** The project of the shard with the most events of seven days, and how many these are. */
export async function findBusiest(
  postgres: Postgres,
  shard: number,
): Promise<{ readonly projectId: ProjectId; readonly events: number } | undefined> {
  const { rows } = await postgres.raw<{ rows: { id: string; events: string }[] }>(
    `SELECT projects.id, sum(usage.events_stored) AS events
     FROM projects
     LEFT JOIN project_placements AS placed ON placed.project_id = projects.id
     JOIN usage_days AS usage
       ON usage.project_id = projects.id AND usage.day > (now() AT TIME ZONE 'UTC')::date - 7
     WHERE projects.deleted_at IS NULL AND coalesce(placed.shard, ?) = ? AND usage.events_stored > 0
     GROUP BY projects.id ORDER BY events DESC LIMIT 1`,
    [FIRST_SHARD, shard],
  );
  return rows[0] && { projectId: toProjectId(rows[0].id), events: Number(rows[0].events) };
}

export async function setAcceptsNew(postgres: Postgres, shard: number, acceptsNew: boolean): Promise<void> {
  await postgres('shards').where({ id: shard }).update({ accepts_new: acceptsNew });
}
