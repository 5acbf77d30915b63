// Scheduled job: every five seconds deletes the data of deleted projects, which PostgreSQL lists,
// so that none is lost. Several projects run concurrently, round-robin over organizations; files
// are rewritten in the background, so that a large project does not delay the others.
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'bullmq';
import { createIdentifyQueue } from '../src/identity/queue.js';
import { createIngestQueue } from '../src/ingest/queue.js';
import { KeyRotation } from '../src/platform/flow/key-rotation.js';
import { interleave } from '../src/platform/flow/round-robin.js';
import type { ProjectId } from '../src/platform/ids.js';
import { createPostgres } from '../src/platform/postgres/client.js';
import { withAdvisoryLock } from '../src/privacy/advisory-lock.js';
import { deleteProjectData, purgeProjects } from '../src/privacy/delete-project.js';
import type { ErasureDeps } from '../src/privacy/erase-people.js';
import { createIdHash } from '../src/privacy/id-hash.js';
import { type DeletedProject, listProjectsToDelete, markDataDeleted } from '../src/privacy/project-store.js';
import { createErasureQueue, PROJECT_DELETION_QUEUE, scheduleErasure } from '../src/privacy/queue.js';
import { ErasureTombstones } from '../src/privacy/tombstones.js';
import type { RunningJob, WorkerDeps } from './runtime.js';

const EVERY_MS = 5_000;
const POLL_MS = 250;
const PROJECTS_AT_ONCE = 3;
const LOCKS_HELD = 2;

export async function startProjectDeletion(deps: WorkerDeps): Promise<RunningJob> {
  const { config, redis, log } = deps;
  const stopping = new AbortController();
  const { signal } = stopping;
  const postgres = createPostgres(config, { poolMax: PROJECTS_AT_ONCE + LOCKS_HELD });
  const ingestQueue = createIngestQueue(redis);
  const identifyQueue = createIdentifyQueue(redis);
  const hashId = createIdHash(config.SECRET_KEY_BASE);
  const forgotten = new ErasureTombstones(redis, hashId);
  const deletion = { ...deps, postgres, ingestQueue, identifyQueue, hashId, forgotten, signal };
  const queue = createErasureQueue(redis, PROJECT_DELETION_QUEUE);
  await scheduleErasure(queue, EVERY_MS);

  async function purge(projects: readonly DeletedProject[]): Promise<void> {
    // Another process may have purged them while this one waited for the lock.
    const left = new Set((await listProjectsToDelete(postgres)).map(({ projectId }) => projectId));
    const purged = await purgeProjects(
      deletion,
      projects.filter(({ projectId }) => left.has(projectId)),
    );
    for (const project of purged) await markDataDeleted(postgres, project, hashId);
  }

  let purging: Promise<void> | undefined;
  async function deleteProjects(): Promise<void> {
    // Not supported on a ClickHouse cluster yet: its tables have other names, so the projects wait.
    if (config.CLICKHOUSE_CLUSTER !== undefined) return;
    const { emptied, failures } = await deleteRowsInRotation(deletion);
    if (emptied.length > 0) {
      purging ??= withAdvisoryLock(postgres, { of: 'projectPurge', signal }, () => purge(emptied))
        .catch((err: unknown) => {
          if (!signal.aborted)
            log.error({ err }, 'rewriting the files of deleted projects failed; the next run goes on');
        })
        .finally(() => (purging = undefined));
    }
    if (failures.length > 0) throw failures[0];
  }

  const worker = new Worker(
    PROJECT_DELETION_QUEUE,
    () => withAdvisoryLock(postgres, { of: 'projects', signal }, deleteProjects),
    { connection: redis.duplicate() },
  );
  worker.on('failed', (_job, err) => {
    if (!signal.aborted) log.error({ err }, 'the deletion of projects failed; the next run goes on');
  });
  worker.on('error', (err) => log.warn({ err }, 'the deletion of projects lost touch with redis'));
  return {
    async close() {
      stopping.abort();
      await worker.close();
      await purging;
      await ingestQueue.close();
      await identifyQueue.close();
      await queue.close();
      await postgres.destroy();
    },
  };
}

/**
 * Deletes the rows of each project once, including projects that are deleted meanwhile. A failing
 * project does not delay others.
 */
async function deleteRowsInRotation(deps: ErasureDeps): Promise<{ emptied: DeletedProject[]; failures: unknown[] }> {
  const rotation = new KeyRotation(PROJECTS_AT_ONCE);
  const emptied: DeletedProject[] = [];
  const failures: unknown[] = [];
  const begun = new Set<ProjectId>();
  try {
    for (;;) {
      const listed = interleave(await listProjectsToDelete(deps.postgres), ({ organizationId }) => organizationId);
      const waiting = new Map(
        listed.filter(({ projectId }) => !begun.has(projectId)).map((each) => [each.projectId, each]),
      );
      rotation.start(waiting.keys(), async (projectId) => {
        begun.add(projectId);
        const project = waiting.get(projectId) as DeletedProject;
        await deleteProjectData(deps, project, Date.now()).then(
          (isEmptied) => isEmptied && emptied.push(project),
          (error: unknown) => failures.push(error),
        );
      });
      if (rotation.running.length === 0) return { emptied, failures };
      await Promise.race([rotation.oneEnded(), delay(POLL_MS, undefined, { signal: deps.signal })]);
    }
  } finally {
    await rotation.allEnded();
  }
}
