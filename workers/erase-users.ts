// Jobs of erasures: one deletes the data of people, the other purges it from the files later. A run
// erases until no request is left, round-robin over projects (privacy/erase-requested.ts). A failed
// run is not retried; the next one, which the schedule adds within seconds, continues.
import { findPendingSince, releaseSequence } from '../src/identity/sequence.js';
import { createCollectedGauge } from '../src/platform/collected-gauge.js';
import { BOUNDS } from '../src/platform/flow/bounds.js';
import { withAdvisoryLock } from '../src/platform/postgres/advisory-lock.js';
import { isUnreachable } from '../src/platform/transient-errors.js';
import { DAY_MS } from '../src/platform/utc-day.js';
import type { ErasureDeps } from '../src/privacy/erase-people.js';
import { eraseRequested } from '../src/privacy/erase-requested.js';
import { publishTombstones } from '../src/privacy/publish-tombstones.js';
import { purgeEveryMs } from '../src/privacy/purge-interval.js';
import { purgePeople } from '../src/privacy/purge-people.js';
import { ERASURE_QUEUE, PURGE_QUEUE, sequenceMember } from '../src/privacy/queue.js';
import {
  countOverdue,
  deleteTombstones,
  isPurgedWithin,
  listDeleted,
  listWaitingIds,
  longestWait,
  markPurged,
} from '../src/privacy/store.js';
import { type ErasureNeeds, openErasure } from './open-erasure.js';
import { joinJobs } from './runtime.js';
import { defineScheduledJob } from './scheduled-job.js';

const SWEEP_MS = 5_000;
// A lock holds a connection, beside the one of its work.
const LOCKS_HELD = 1;

const startErasing = defineScheduledJob({
  name: ERASURE_QUEUE,
  everyMs: { [`${ERASURE_QUEUE}-sweep`]: SWEEP_MS },
  async open(needs: ErasureNeeds, signal) {
    const deps = openErasure(needs, signal, BOUNDS.erasureProjects + LOCKS_HELD);
    createCollectedGauge(
      needs.metrics,
      {
        name: 'privacy_erasures_overdue',
        help: 'Erasures whose files should have been rewritten by now (purge_by)',
      },
      async () => [{ value: await countOverdue(deps.postgres, new Date()) }],
    );
    createCollectedGauge(
      needs.metrics,
      {
        name: 'privacy_erasure_oldest_waiting_seconds',
        help: 'For how long the oldest erasure without a receipt has waited',
      },
      async () => [{ value: await longestWait(deps.postgres) }],
    );
    // Restores the tombstones in a Redis that has lost them.
    await publishTombstones(deps);

    // Every request adds a job, so many runs find nothing to do; tidy at most once per sweep
    // interval.
    let tidiedAt = Number.NEGATIVE_INFINITY;
    async function erase(): Promise<void> {
      try {
        await eraseRequested(deps, deps.log);
      } finally {
        if (performance.now() - tidiedAt > SWEEP_MS / 2) {
          tidiedAt = performance.now();
          await tidy(deps);
        }
      }
    }
    return {
      run: () => withAdvisoryLock(deps.postgres, { of: 'erasure', signal }, erase).catch(failWithoutIds),
      close: deps.close,
    };
  },
});

const startPurging = defineScheduledJob({
  name: PURGE_QUEUE,
  everyMs: { [`${PURGE_QUEUE}-sweep`]: SWEEP_MS },
  open(needs: ErasureNeeds, signal) {
    const deps = openErasure(needs, signal, 1 + LOCKS_HELD);
    const { config, postgres } = deps;
    async function purge(): Promise<void> {
      const due = await listDeleted(postgres, config.PRIVACY_PURGE_DELAY_MS);
      if (due.length === 0 || (await isPurgedWithin(postgres, purgeEveryMs(config)))) return;
      await markPurged(postgres, await purgePeople(deps, due));
    }
    return {
      run: () => withAdvisoryLock(postgres, { of: 'purge', signal }, purge).catch(failWithoutIds),
      close: deps.close,
    };
  },
});

export const startErasure = (needs: ErasureNeeds) => joinJobs(startErasing(needs), startPurging(needs));

/**
 * Messages of database errors may quote ids, which neither jobs nor logs may contain, so only the
 * code is kept. Those of the network have none.
 */
function failWithoutIds(error: unknown): never {
  if (!(error instanceof Error && 'code' in error) || isUnreachable(error)) throw error;
  throw Object.assign(new Error(`${error.name} ${String(error.code)}`), { code: error.code });
}

const TOMBSTONE_KEPT_MS = 7 * DAY_MS;

/**
 * Releases sequence numbers of requests that were never written or are done, and deletes tombstones
 * that no pending event can match.
 */
async function tidy(deps: ErasureDeps): Promise<void> {
  const pending = await findPendingSince(deps.redis, Date.now() - 60_000);
  const waiting = new Set((await listWaitingIds(deps.postgres)).map(sequenceMember));
  const done = pending.filter((member) => member.startsWith(sequenceMember('')) && !waiting.has(member));
  if (done.length > 0) await releaseSequence(deps.redis, ...done);
  await deleteTombstones(deps.postgres, Date.now() - TOMBSTONE_KEPT_MS);
  await publishTombstones(deps);
}
