// Moves a project to another shard while it is used. Nothing is inserted at its home meanwhile, and
// events wait in Redis; queries read the old place until the placement changes. The steps may be
// interrupted anywhere and begun again: what was copied before is deleted first.
import { setTimeout as delay } from 'node:timers/promises';
import { projectionQueryId } from '../identity/clickhouse-projection.js';
import { publishPlacements } from '../ingest/placement-cache.js';
import { type Shard, Shards } from '../platform/clickhouse/shards.js';
import { waitForQuery } from '../platform/clickhouse/wait-for-query.js';
import type { Config } from '../platform/config.js';
import { isUuid, type ProjectId, toProjectId } from '../platform/ids.js';
import { withAdvisoryLock } from '../privacy/advisory-lock.js';
import { deleteFromClickHouse } from '../privacy/delete-project.js';
import { waitForIngestion } from '../privacy/erase-people.js';
import { rewriteClickHouse } from '../privacy/rewrite-files.js';
import type { ShardsDeps } from './add-shard.js';
import { copyProject, requireSameSchema } from './copy-project.js';
import { beginMove, cancelMove, completeMove, emptiestShard, listHomes, setAcceptsNew } from './store.js';

export interface MoveDeps extends ShardsDeps {
  readonly config: Pick<Config, 'CLICKHOUSE_URL' | 'CLICKHOUSE_DATABASE' | 'INGEST_PARTITIONS' | 'QUERY_TIMEOUT_MS'>;
  /** Until no query reads the old place; by default by QUERY_TIMEOUT_MS. */
  readonly waitMs?: number;
}

const REQUEST_TIMEOUT_MS = 300_000;
/** Runs that delete rows of people; those that begin during a move leave the project alone. */
const DELETING = ['erasure', 'purge', 'projects', 'keeping'] as const;
// A query that looked up the old placement ends within its deadline, and a little later in
// ClickHouse.
const QUERY_GRACE_MS = 15_000;

type OpenDeps = MoveDeps & { readonly shards: Shards };

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
  await withShards(deps, async (open) => {
    await open.shards.get(shard);
    await setAcceptsNew(deps.postgres, shard, false);
    const projects = await listHomes(deps.postgres, shard);
    for (const projectId of projects) await moveRows(open, projectId, await emptiestShard(deps.postgres, shard));
    await clearOldShards(open, projects);
    deps.say(`shard ${shard} has no projects: ${projects.length} were moved`);
  });
}

async function withShards(deps: MoveDeps, work: (open: OpenDeps) => Promise<void>): Promise<void> {
  const { config, postgres, signal } = deps;
  const shards = new Shards(config, { postgres, requestTimeoutMs: REQUEST_TIMEOUT_MS });
  try {
    await withAdvisoryLock(postgres, { of: 'moves', signal }, () => work({ ...deps, shards }));
  } finally {
    await shards.close();
  }
}

async function moveRows(deps: OpenDeps, projectId: ProjectId, to: number): Promise<void> {
  const { postgres, redis, shards, say, signal } = deps;
  const destination = await shards.get(to);
  const home = await shards.homeOf(projectId);
  const isKnown = await postgres('projects').where({ id: projectId }).whereNull('deleted_at').first('id');
  if (isKnown === undefined) throw new Error(`there is no project ${projectId}`);
  if (home.shard === to) {
    if (home.isMoving) await cancel(deps, projectId);
    say(`the project ${projectId} is on shard ${to}`);
    return;
  }
  await requireSameSchema({ from: home.at.clickhouse, to: destination.clickhouse });
  // Before its events begin to wait, and once more for runs that began in between.
  await waitForDeletions(deps);
  await beginMove(postgres, { projectId, from: home.shard, to });
  try {
    await publishPlacements(redis);
    await waitForDeletions(deps);
    await waitForInserts(deps, { projectId, home: home.at });
    await deleteElsewhere(deps, { projectId, home: home.shard });
    const copied = await copyProject({ from: home.at.clickhouse, to: destination.clickhouse, signal }, projectId);
    for (const { table, rows } of copied) say(`${table}: ${rows} rows are copied, with equal checksums`);
    await completeMove(postgres, { projectId, from: home.shard, to, epoch: home.epoch });
  } catch (error) {
    await cancel(deps, projectId);
    throw error;
  }
  await publishPlacements(redis);
  say(`the project ${projectId} is on shard ${to}`);
}

/** It stays at its home, and what waits is stored there. */
async function cancel({ postgres, redis }: MoveDeps, projectId: ProjectId): Promise<void> {
  await cancelMove(postgres, projectId);
  await publishPlacements(redis);
}

async function waitForDeletions({ postgres, signal }: MoveDeps): Promise<void> {
  for (const of of DELETING) await withAdvisoryLock(postgres, { of, signal }, async () => {});
}

/** Of jobs that began before the move was published, and of workers that were killed. */
async function waitForInserts(
  deps: OpenDeps,
  { projectId, home }: { projectId: ProjectId; home: Shard },
): Promise<void> {
  await waitForIngestion(deps, [{ projectId }]);
  for (const table of ['profiles', 'device_map'] as const) {
    await waitForQuery(home.clickhouse, projectionQueryId(deps.config.CLICKHOUSE_DATABASE, table));
  }
}

/** On every host of the other shards that may have rows. */
async function deleteElsewhere(
  { shards, say }: OpenDeps,
  { projectId, home }: { projectId: ProjectId; home: number },
): Promise<readonly Shard[]> {
  const others = (await shards.tracesOf(projectId)).filter(({ id }) => id !== home);
  for (const { id, hosts } of others) {
    let rows = 0;
    for (const { clickhouse } of hosts) rows += await deleteFromClickHouse(clickhouse, projectId);
    if (rows > 0) say(`${rows} rows of the project ${projectId} are deleted from shard ${id}`);
  }
  return others;
}

/** Deletes rows from where the projects have been, and then from the files there. */
async function clearOldShards(deps: OpenDeps, projects: readonly ProjectId[]): Promise<void> {
  const { config, shards, say, signal } = deps;
  const waitMs = deps.waitMs ?? config.QUERY_TIMEOUT_MS + QUERY_GRACE_MS;
  say(`waiting ${Math.ceil(waitMs / 1000)} s for queries that read the old shard`);
  await delay(waitMs, undefined, { signal });
  const cleared = new Map<number, Shard>();
  for (const projectId of projects) {
    const { shard } = await shards.homeOf(projectId);
    for (const other of await deleteElsewhere(deps, { projectId, home: shard })) cleared.set(other.id, other);
  }
  for (const { hosts } of cleared.values()) {
    for (const { name, clickhouse } of hosts) {
      await rewriteClickHouse(clickhouse, { signal });
      say(`no file of ${name} has them`);
    }
  }
}
