// Removes a drained shard, so that its server can be switched off: no project has rows there, in
// tables or in files, and no job waits for it.
import { setTimeout as delay } from 'node:timers/promises';
import { publishPlacements } from '../ingest/placement-cache.js';
import { ingestQueuesOf } from '../ingest/queue.js';
import { withQueue } from '../operate/dead-letter-jobs.js';
import { FIRST_SHARD, Shards } from '../platform/clickhouse/shards.js';
import { requireAnswers } from '../platform/clickhouse/silent-hosts.js';
import { withAdvisoryLock } from '../platform/postgres/advisory-lock.js';
import type { Postgres } from '../platform/postgres/client.js';
import type { Redis } from '../platform/redis/client.js';
import { rewriteClickHouse } from '../privacy/rewrite-files.js';
import { REGISTRY_WAIT_MS, type ShardsDeps } from './add-shard.js';
import { requireNoProjects } from './check-servers.js';
import { findAnyAt, isRemoved, listRegistered, markRemoved, requireRegistered } from './store.js';

const REQUEST_TIMEOUT_MS = 300_000;
/** A canary event takes less. */
const QUEUES_WAIT_MS = 30_000;
const POLL_MS = 200;

interface Removal {
  readonly shard: number;
  /** Its disks do not exist any more, so no host is asked. */
  readonly isLost: boolean;
}

/**
 * Throws an error that names what is still there. May be repeated, also after the removal. The
 * numbers of removed shards are not used again.
 */
export async function removeShard(
  deps: ShardsDeps,
  { shard, isLost }: Removal,
  waitMs: number = REGISTRY_WAIT_MS,
): Promise<void> {
  const { postgres, redis, signal, say } = deps;
  if (shard === FIRST_SHARD) throw new Error('shard 1 stays: projects live there that were never placed');
  const onWait = () => say('waiting for the end of a move');
  await withAdvisoryLock(postgres, { of: 'moves', signal, onWait }, async () => {
    // When the command was interrupted while it waited below, the rest is done again.
    if (!(await isRemoved(postgres, shard))) {
      await requireDrained(postgres, shard);
      if (!isLost) {
        await requireNothingLeft(postgres, shard);
        await clearHosts(deps, shard);
      }
      await requireIdleQueues(deps, shard);
      await markRemoved(postgres, shard);
    }
    // Workers read the registry with their next jobs.
    await publishPlacements(redis);
    say(`shard ${shard} is removed; waiting ${waitMs / 1000} s until every process knows it`);
    await delay(waitMs, undefined, { signal });
    // Jobs of processes that did not know it yet.
    await requireIdleQueues(deps, shard);
    say('its server can be switched off');
  });
}

async function requireDrained(postgres: Postgres, shard: number): Promise<void> {
  const { accepts_new } = requireRegistered(await listRegistered(postgres), shard);
  const project = await findAnyAt(postgres, shard);
  if (!accepts_new && project === undefined) return;
  const reason = project === undefined ? 'accepts new projects' : `has the project ${project}`;
  throw new Error(`shard ${shard} ${reason}; run "npm run shards -- drain ${shard}" first`);
}

/** Deletions and moves that have not ended ask every shard that had the project. */
async function requireNothingLeft(postgres: Postgres, shard: number): Promise<void> {
  const { rows } = await postgres.raw<{ rows: { deleted: number; left: number }[] }>(
    `SELECT count(*) FILTER (WHERE projects.deleted_at IS NOT NULL AND projects.data_deleted_at IS NULL)::int AS deleted,
       count(*) FILTER (WHERE placed.clear_after IS NOT NULL)::int AS left
     FROM project_traces
     JOIN projects ON projects.id = project_traces.project_id
     LEFT JOIN project_placements AS placed ON placed.project_id = projects.id
     WHERE project_traces.shard = ?`,
    [shard],
  );
  const [{ deleted, left } = { deleted: 0, left: 0 }] = rows;
  if (deleted > 0) {
    throw new Error(
      `the deletion of ${deleted} projects that were on shard ${shard} has not ended; it takes half an hour`,
    );
  }
  if (left > 0) {
    throw new Error(
      `${left} moves from or to shard ${shard} have not been cleared away; a worker does it within minutes`,
    );
  }
}

/** Every host must answer, and has no row of a project afterwards, also in its files. */
async function clearHosts({ config, postgres, signal, progress, say }: ShardsDeps, shard: number): Promise<void> {
  const shards = new Shards(config, { postgres, requestTimeoutMs: REQUEST_TIMEOUT_MS });
  try {
    const removed = await shards.get(shard);
    await requireAnswers([removed]);
    for (const { name, clickhouse } of removed.hosts) {
      await requireNoProjects(name, clickhouse);
      await rewriteClickHouse(clickhouse, { signal, ...(progress && { progress }) });
      say(`no file of ${name} has rows of projects`);
    }
  } finally {
    await shards.close();
  }
}

/** Waits for jobs that end soon. Throws when some do not. */
async function requireIdleQueues({ redis, signal }: ShardsDeps, shard: number): Promise<void> {
  const deadline = performance.now() + QUEUES_WAIT_MS;
  for (;;) {
    const { failed, others } = await countJobs(redis, shard);
    if (failed > 0) {
      throw new Error(`${failed} failed jobs of shard ${shard} wait for an operator; see "npm run jobs -- list"`);
    }
    if (others === 0) return;
    if (performance.now() > deadline) {
      throw new Error(`${others} jobs wait in the queues of shard ${shard}; let the workers run until they have ended`);
    }
    await delay(POLL_MS, undefined, { signal });
  }
}

async function countJobs(redis: Redis, shard: number): Promise<{ failed: number; others: number }> {
  const counts = { failed: 0, others: 0 };
  for (const name of ingestQueuesOf(shard)) {
    const { failed = 0, completed: _, ...states } = await withQueue(redis, name, (queue) => queue.getJobCounts());
    counts.failed += failed;
    counts.others += Object.values(states).reduce((sum, jobs) => sum + jobs, 0);
  }
  return counts;
}
