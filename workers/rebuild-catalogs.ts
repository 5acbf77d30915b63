// Scheduled rebuild of catalogs: every five seconds, those of new projects, of projects from before
// the catalog, of projects in which people were erased, and of those with names that could not be
// stored.
import { markMissed } from '../src/catalog/missed-projects.js';
import { findNames } from '../src/catalog/rebuild.js';
import { listDueRebuilds, postponeRebuild, replaceNames } from '../src/catalog/store.js';
import { withAdvisoryLock } from '../src/platform/postgres/advisory-lock.js';
import { logProgress } from '../src/platform/progress.js';
import type { Needs } from './runtime.js';
import { defineScheduledJob } from './scheduled-job.js';

const PROJECTS_AT_A_TIME = 100;
// A rebuild reads all events of a project, so the rebuilds of a project take a twentieth of the
// time.
const REST_PER_WORK = 20;
const RETRY_MS = 60_000;

const restOf = (startedAt: number): number => REST_PER_WORK * (performance.now() - startedAt);

export const startCatalogRebuilds = defineScheduledJob({
  name: 'rebuild-catalogs',
  everyMs: 5_000,
  open(deps: Needs<'shards' | 'postgres' | 'redis' | 'log'>, signal) {
    const { shards, postgres, redis, log } = deps;
    async function rebuildDue(): Promise<void> {
      await markMissed(postgres, redis);
      const failures: unknown[] = [];
      for (const due of await listDueRebuilds(postgres, PROJECTS_AT_A_TIME)) {
        if (signal.aborted) return;
        const startedAt = performance.now();
        try {
          const { at, epoch } = await shards.homeOf(due.projectId);
          const progress = logProgress(log.child({ project: due.projectId }));
          const names = await findNames(at.clickhouse, due.projectId, progress);
          // A move deletes the rows at the old shard, perhaps while they were read.
          const isMoved = (await shards.homeOf(due.projectId)).epoch !== epoch;
          const isReplaced = !isMoved && (await replaceNames(postgres, due, names, restOf(startedAt)));
          if (!isReplaced) await postponeRebuild(postgres, due, restOf(startedAt));
        } catch (error) {
          failures.push(error);
          await postponeRebuild(postgres, due, Math.max(RETRY_MS, restOf(startedAt)));
        }
      }
      if (failures.length > 0) throw failures[0];
    }
    return { run: () => withAdvisoryLock(postgres, { of: 'catalogs', signal }, rebuildDue) };
  },
});
