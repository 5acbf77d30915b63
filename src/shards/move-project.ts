// Moves a project to another shard while it is used. Nothing is inserted at its home meanwhile, and
// events wait in Redis; queries read the old place until the placement changes. The steps may be
// interrupted anywhere and begun again: what was copied before is deleted first. When the command
// is killed, its lock ends, and a worker ends the move (settle-moves.ts).
import { setTimeout as delay } from 'node:timers/promises';
import { projectionQueryId } from '../identity/clickhouse-projection.js';
import { publishPlacements, requirePublished } from '../ingest/placement-cache.js';
import { type Shard, Shards } from '../platform/clickhouse/shards.js';
import { requireAnswers } from '../platform/clickhouse/silent-hosts.js';
import { waitForQuery } from '../platform/clickhouse/wait-for-query.js';
import type { Config } from '../platform/config.js';
import { isUuid, type ProjectId, toProjectId } from '../platform/ids.js';
import { type HeldLock, withAdvisoryLock } from '../platform/postgres/advisory-lock.js';
import { waitForIngestion } from '../privacy/erase-people.js';
import { rewriteClickHouse } from '../privacy/rewrite-files.js';
import type { ShardsDeps } from './add-shard.js';
import { copyProject, requireSameSchema } from './copy-project.js';
import { deleteSeenRows, dropFences, fenceOf, type RequireMine, raiseFence } from './move-fence.js';
import {
  beginMove,
  cancelMove,
  completeMove,
  emptiestShard,
  findAnyAt,
  findMove,
  markCleared,
  type NumberedMove,
  readLeftMs,
  requireMove,
  setAcceptsNew,
  waitForProjections,
} from './store.js';

export interface MoveDeps extends ShardsDeps {
  readonly config: Pick<
    Config,
    'CLICKHOUSE_URL' | 'CLICKHOUSE_DATABASE' | 'INGEST_PARTITIONS' | 'QUERY_WAIT_MS' | 'QUERY_TIMEOUT_MS'
  >;
  /** Until no query reads the old place; by default the longest that a query may take. */
  readonly waitMs?: number;
}

const REQUEST_TIMEOUT_MS = 300_000;
/** Runs that delete rows of people; those that begin during a move leave the project alone. */
const DELETING = [
  ['erasure', 'a run of erasures'],
  ['purge', 'a purge of files'],
  ['projects', 'a run that deletes projects'],
  ['keeping', 'a run of keep'],
] as const;
// A query that looked up the old placement ends within its deadline, and a little later in
// ClickHouse.
const QUERY_GRACE_MS = 15_000;

type OpenDeps = MoveDeps & { readonly shards: Shards };
/** What deletes rows where projects do not live. */
export type ClearingDeps = Pick<OpenDeps, 'postgres' | 'shards' | 'say' | 'signal' | 'progress'>;

const HEARTBEAT_MS = 1_000;

/** Throws an error that names what is wrong. Afterwards no other shard has rows of the project. */
export async function moveProject(deps: MoveDeps, project: string, shard: number): Promise<void> {
  if (!isUuid(project)) throw new Error(`"${project}" is not the id of a project`);
  const projectId = toProjectId(project.toLowerCase());
  await withShards(deps, async (open) => {
    await moveRows(open, projectId, shard);
    await clearOldShards(open, [projectId]);
  });
}

/** Moves every project of the shard to the emptiest others, and gives it no new ones. */
export async function drainShard(deps: MoveDeps, shard: number): Promise<void> {
  const { postgres, say } = deps;
  await withShards(deps, async (open) => {
    await open.shards.get(shard);
    // Throws while the shard still accepts new projects, which would have no other place.
    await emptiestShard(postgres, shard);
    await setAcceptsNew(postgres, shard, false);
    const moved: ProjectId[] = [];
    // Looked up each time: meanwhile some are deleted, or were being created when it began.
    for (let next = await findAnyAt(postgres, shard); next !== undefined; next = await findAnyAt(postgres, shard)) {
      await moveRows(open, next, await emptiestShard(postgres, shard));
      moved.push(next);
    }
    await clearOldShards(open, moved);
    say(`shard ${shard} has no projects: ${moved.length} were moved`);
  });
}

async function withShards(deps: MoveDeps, work: (open: OpenDeps) => Promise<void>): Promise<void> {
  const { config, postgres, signal } = deps;
  const shards = new Shards(config, { postgres, requestTimeoutMs: REQUEST_TIMEOUT_MS });
  try {
    const onWait = () => deps.say('waiting for the end of another move');
    await withAdvisoryLock(postgres, { of: 'moves', signal, onWait }, (lock) =>
      whileHeld(lock, signal, (held) => work({ ...deps, shards, signal: held })),
    );
  } finally {
    await shards.close();
  }
}

/** Aborts the work soon after the lock was lost, with the connection to PostgreSQL. */
async function whileHeld(
  { requireHeld }: HeldLock,
  signal: AbortSignal,
  work: (held: AbortSignal) => Promise<void>,
): Promise<void> {
  const lost = new AbortController();
  const timer = setInterval(() => void requireHeld().catch((error: unknown) => lost.abort(error)), HEARTBEAT_MS);
  try {
    await work(AbortSignal.any([signal, lost.signal]));
  } finally {
    clearInterval(timer);
  }
}

async function moveRows(deps: OpenDeps, projectId: ProjectId, to: number): Promise<void> {
  const { postgres, redis, shards, say, signal, progress } = deps;
  const destination = await shards.get(to);
  const home = await shards.homeOf(projectId);
  const isKnown = await postgres('projects').where({ id: projectId }).whereNull('deleted_at').first('id');
  if (isKnown === undefined) throw new Error(`there is no project ${projectId}`);
  if (home.shard === to) {
    const last = home.isMoving ? await findMove(postgres, projectId) : undefined;
    if (last !== undefined) await cancel(deps, last);
    say(`the project ${projectId} is on shard ${to}`);
    return;
  }
  await requireSameSchema({ from: home.at.clickhouse, to: destination.clickhouse });
  await waitForQueries(deps, projectId);
  // Before its events begin to wait, and once more for runs that began in between.
  await waitForDeletions(deps);
  const move = { projectId, from: home.shard, to };
  const mine = { projectId, move: await beginMove(postgres, move) };
  const requireMine = () => requireMove(postgres, { ...mine, state: 'moving' });
  const fence = fenceOf(projectId, mine.move);
  try {
    const version = await publishPlacements(redis);
    await waitForDeletions(deps);
    await waitForInserts(deps, { projectId, home: home.at });
    await deleteElsewhere(deps, { projectId, home: home.shard, requireMine });
    await raiseFence(destination.clickhouse, fence, requireMine);
    const ends = { from: home.at.clickhouse, to: destination.clickhouse, signal, progress, fence };
    const copied = await copyProject(ends, projectId);
    for (const { table, rows } of copied) say(`${table}: ${rows} rows are copied, with equal checksums`);
    await requirePublished(redis, version);
    await completeMove(postgres, { ...move, ...mine, clearAfterMs: queryEndMs(deps) });
  } catch (error) {
    await cancel(deps, mine);
    throw error;
  }
  await publishPlacements(redis);
  await dropFences(destination.clickhouse, projectId);
  say(`the project ${projectId} is on shard ${to}`);
}

/**
 * It stays at its home, and what waits is stored there. Resolves with whether the move had not
 * ended.
 */
export async function cancel(
  { postgres, redis }: Pick<MoveDeps, 'postgres' | 'redis'>,
  move: NumberedMove,
): Promise<boolean> {
  const isCancelled = await cancelMove(postgres, move);
  await publishPlacements(redis);
  return isCancelled;
}

async function waitForDeletions({ postgres, signal, say }: MoveDeps): Promise<void> {
  for (const [of, name] of DELETING) {
    const onWait = () => say(`waiting for the end of ${name}`);
    await withAdvisoryLock(postgres, { of, signal, onWait }, async () => {});
  }
}

/** Waits for inserts of jobs that began before the move was published, and of killed workers. */
async function waitForInserts(
  deps: OpenDeps,
  { projectId, home }: { projectId: ProjectId; home: Shard },
): Promise<void> {
  await waitForIngestion(deps, [{ projectId }]);
  await waitForProjections(deps.postgres, projectId);
  for (const table of ['profiles', 'device_map'] as const) {
    await waitForQuery(home.clickhouse, projectionQueryId(deps.config.CLICKHOUSE_DATABASE, table));
  }
}

/**
 * On every host of the other shards that may have rows. No earlier move copies any there
 * afterwards.
 */
async function deleteElsewhere(
  { shards, say }: Pick<ClearingDeps, 'shards' | 'say'>,
  { projectId, home, requireMine }: { projectId: ProjectId; home: number; requireMine: RequireMine },
): Promise<readonly Shard[]> {
  const others = (await shards.tracesOf(projectId)).filter(({ id }) => id !== home);
  await requireAnswers(others);
  for (const { id, clickhouse: writer, hosts } of others) {
    await dropFences(writer, projectId);
    let rows = 0;
    for (const { clickhouse } of hosts) rows += await deleteSeenRows(clickhouse, projectId, requireMine);
    if (rows > 0) say(`${rows} rows of the project ${projectId} are deleted from shard ${id}`);
  }
  return others;
}

/**
 * From the change of its placement until no query reads the old place of a project: a query looks
 * up the place before it waits.
 */
const queryEndMs = ({ waitMs, config }: MoveDeps): number =>
  waitMs ?? config.QUERY_WAIT_MS + config.QUERY_TIMEOUT_MS + QUERY_GRACE_MS;

/** Which may still read the place that the last move of the project has left. */
async function waitForQueries({ postgres, say, signal }: OpenDeps, projectId: ProjectId): Promise<void> {
  const leftMs = await readLeftMs(postgres, projectId);
  if (leftMs === 0) return;
  say(`waiting ${Math.ceil(leftMs / 1000)} s for queries that read the old shard`);
  await delay(leftMs, undefined, { signal });
}

/** Deletes rows from where the projects have been, and then from the files there. */
async function clearOldShards(deps: OpenDeps, projects: readonly ProjectId[]): Promise<void> {
  for (const projectId of projects) await waitForQueries(deps, projectId);
  await rewriteLeft(deps, await deleteLeft(deps, projects));
}

/** Projects without rows elsewhere, and the hosts where some were. */
export interface Left {
  readonly settled: readonly NumberedMove[];
  readonly shards: readonly Shard[];
}

/** Queries that read the old places must have ended. May be repeated. */
export async function deleteLeft(deps: ClearingDeps, projects: readonly ProjectId[]): Promise<Left> {
  const shards = new Map<number, Shard>();
  const settled: NumberedMove[] = [];
  for (const projectId of projects) {
    const last = await findMove(deps.postgres, projectId);
    if (last === undefined) continue;
    const requireMine = () => requireMove(deps.postgres, { ...last, state: 'home' });
    const others = await deleteElsewhere(deps, { projectId, home: last.shard, requireMine });
    for (const other of others) shards.set(other.id, other);
    settled.push(last);
  }
  return { settled, shards: [...shards.values()] };
}

/** Minutes pass until replaced files are removed. Needs no lock. */
export async function rewriteLeft(deps: ClearingDeps, { settled, shards }: Left): Promise<void> {
  const { postgres, signal, progress, say } = deps;
  for (const { hosts } of shards) {
    for (const { name, clickhouse } of hosts) {
      await rewriteClickHouse(clickhouse, { signal, ...(progress && { progress }) });
      say(`no file of ${name} has them`);
    }
  }
  for (const each of settled) await markCleared(postgres, each);
}
