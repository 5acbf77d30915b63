// Scheduled job: every five seconds deletes the data of deleted projects, which PostgreSQL lists,
// so that none is lost. Several projects run concurrently, round-robin over organizations; files
// are rewritten in the background, so that a large project does not delay the others.
import { setTimeout as delay } from 'node:timers/promises';
import { BOUNDS } from '../src/platform/flow/bounds.js';
import { KeyRotation } from '../src/platform/flow/key-rotation.js';
import { interleave } from '../src/platform/flow/round-robin.js';
import type { ProjectId } from '../src/platform/ids.js';
import { withAdvisoryLock } from '../src/platform/postgres/advisory-lock.js';
import { deleteProjectData, purgeProjects } from '../src/privacy/delete-project.js';
import type { ErasureDeps } from '../src/privacy/erase-people.js';
import {
  type DeletedProject,
  isDataDeletedWithin,
  listProjectsToDelete,
  markDataDeleted,
} from '../src/privacy/project-store.js';
import { purgeEveryMs } from '../src/privacy/purge-interval.js';
import { PROJECT_DELETION_QUEUE } from '../src/privacy/queue.js';
import { type ErasureNeeds, openErasure } from './open-erasure.js';
import { defineScheduledJob } from './scheduled-job.js';

const POLL_MS = 250;
/** Locks of the projects, of their purge, and of the purges that rewrite the same files. */
const LOCKS_HELD = 3;

export const startProjectDeletion = defineScheduledJob({
  name: PROJECT_DELETION_QUEUE,
  everyMs: { [`${PROJECT_DELETION_QUEUE}-sweep`]: 5_000 },
  open(needs: ErasureNeeds, signal) {
    const deps = openErasure(needs, signal, BOUNDS.deletionProjects + LOCKS_HELD);
    const { config, postgres, log } = deps;

    async function purge(projects: readonly DeletedProject[]): Promise<void> {
      // Several projects share a purge, also of another process while this one waited for the lock.
      if (await isDataDeletedWithin(postgres, purgeEveryMs(config))) return;
      const left = new Set((await listProjectsToDelete(postgres)).map(({ projectId }) => projectId));
      const purged = await purgeProjects(
        deps,
        projects.filter(({ projectId }) => left.has(projectId)),
      );
      for (const project of purged) await markDataDeleted(postgres, project);
    }

    let purging: Promise<void> | undefined;
    async function deleteProjects(): Promise<void> {
      const { emptied, failures } = await deleteRowsInRotation(deps);
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

    return {
      run: () => withAdvisoryLock(postgres, { of: 'projects', signal }, deleteProjects),
      async close() {
        await purging;
        await deps.close();
      },
    };
  },
});

/**
 * Deletes the rows of each project once, including projects that are deleted meanwhile. A failing
 * project does not delay others.
 */
async function deleteRowsInRotation(deps: ErasureDeps): Promise<{ emptied: DeletedProject[]; failures: unknown[] }> {
  const rotation = new KeyRotation(BOUNDS.deletionProjects);
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
