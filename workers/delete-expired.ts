// Scheduled job of keeping: the first run after midnight (UTC) deletes what is behind the edges of
// each project, and then rewrites the files once for all of them. Later runs of the day find
// nothing, or continue after a failure; receipts that failed all day are finished first.
import { closeReceipt, deleteExpired, type KeepingDeps, purgeExpired } from '../src/keeping/delete-expired.js';
import { KEEPING_QUEUE } from '../src/keeping/queue.js';
import { listDueKeeps, listLeftOpen, readSafeNow } from '../src/keeping/store.js';
import { withAdvisoryLock } from '../src/platform/postgres/advisory-lock.js';
import { createPostgres } from '../src/platform/postgres/client.js';
import type { Needs } from './runtime.js';
import { defineScheduledJob } from './scheduled-job.js';

const EVERY_MS = 5 * 60_000;
/** Two locks hold a connection each, beside the one of the work. */
const POOL = 3;

type KeepingNeeds = Needs<'shards' | 'redis' | 'log', 'DATABASE_URL' | 'DATABASE_TLS'>;

export const startKeeping = defineScheduledJob({
  name: KEEPING_QUEUE,
  everyMs: EVERY_MS,
  open({ config, shards, redis, log }: KeepingNeeds, signal) {
    const postgres = createPostgres(config, { poolMax: POOL });
    const deps: KeepingDeps = { config, shards, postgres, redis, log, signal };

    async function keep(): Promise<void> {
      const failures: unknown[] = [];
      const nowMs = await readSafeNow(postgres);
      for (const receipt of await listLeftOpen(postgres, nowMs)) {
        if (signal.aborted) return;
        await closeReceipt(deps, receipt).catch((error: unknown) => failures.push(error));
      }
      for (const due of await listDueKeeps(postgres, nowMs)) {
        if (signal.aborted) return;
        // A failing project does not delay others.
        await deleteExpired(deps, due, nowMs).then(
          (events) => log.info({ project: due.projectId, events }, 'expired events are deleted'),
          (error: unknown) => failures.push(error),
        );
      }
      await withAdvisoryLock(postgres, { of: 'purge', signal }, () => purgeExpired(deps));
      if (failures.length > 0) throw failures[0];
    }

    return {
      run: () => withAdvisoryLock(postgres, { of: 'keeping', signal }, keep),
      close: () => postgres.destroy(),
    };
  },
});
