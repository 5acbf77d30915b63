// Worker of erasures: deletes the data of people, and later purges it from the files. A job erases
// until no request is left, round-robin over projects (privacy/erase-requested.ts). A failed job is
// not retried; the next one, which the schedule adds within seconds, continues.
import { Worker } from 'bullmq';
import { createIdentifyQueue } from '../src/identity/queue.js';
import { findPendingSince, releaseSequence } from '../src/identity/sequence.js';
import { createIngestQueue } from '../src/ingest/queue.js';
import { createCollectedGauge } from '../src/platform/collected-gauge.js';
import type { Config } from '../src/platform/config.js';
import { createPostgres } from '../src/platform/postgres/client.js';
import { withAdvisoryLock } from '../src/privacy/advisory-lock.js';
import type { ErasureDeps } from '../src/privacy/erase-people.js';
import { eraseRequested, PROJECTS_AT_ONCE } from '../src/privacy/erase-requested.js';
import { createIdHash } from '../src/privacy/id-hash.js';
import { publishTombstones } from '../src/privacy/publish-tombstones.js';
import { purgePeople } from '../src/privacy/purge-people.js';
import {
  createErasureQueue,
  ERASURE_QUEUE,
  PURGE_QUEUE,
  scheduleErasure,
  sequenceMember,
} from '../src/privacy/queue.js';
import {
  countOverdue,
  deleteTombstones,
  lastPurgedAt,
  listDeleted,
  listWaitingIds,
  markPurged,
} from '../src/privacy/store.js';
import { ErasureTombstones } from '../src/privacy/tombstones.js';
import type { RunningJob, WorkerDeps } from './runtime.js';

const SWEEP_MS = 5_000;
const LOCKS_HELD = 2;

export async function startErasure(deps: WorkerDeps): Promise<RunningJob> {
  const { config, redis, log } = deps;
  // Connections of its own: concurrent erasures and two locks would use up those shared by other
  // jobs.
  const postgres = createPostgres(config, { poolMax: PROJECTS_AT_ONCE + LOCKS_HELD });
  const stopping = new AbortController();
  const ingestQueue = createIngestQueue(redis);
  const identifyQueue = createIdentifyQueue(redis);
  const hashId = createIdHash(config.SECRET_KEY_BASE);
  const erasureDeps: ErasureDeps = { ...deps, postgres, ingestQueue, identifyQueue, hashId, signal: stopping.signal };
  const forgotten = new ErasureTombstones(redis, hashId);

  createCollectedGauge(
    deps.metrics,
    {
      name: 'privacy_erasures_overdue',
      help: 'Erasures whose files should have been rewritten by now (purge_by)',
    },
    async () => [{ value: await countOverdue(postgres, new Date()) }],
  );

  const queues = [ERASURE_QUEUE, PURGE_QUEUE].map((name) => createErasureQueue(redis, name));
  for (const queue of queues) await scheduleErasure(queue, SWEEP_MS);
  // Restores the tombstones in a Redis that has lost them.
  await publishTombstones(erasureDeps);

  // Every request adds a job, so many runs find nothing to do; tidy at most once per sweep
  // interval.
  let tidiedAt = 0;
  async function erase(): Promise<void> {
    try {
      await eraseRequested(erasureDeps, log);
    } finally {
      if (Date.now() - tidiedAt > SWEEP_MS / 2) {
        tidiedAt = Date.now();
        await tidy(erasureDeps);
      }
    }
  }

  async function purge(): Promise<void> {
    const due = await listDeleted(postgres, new Date(Date.now() - config.PRIVACY_PURGE_DELAY_MS));
    if (due.length === 0 || Date.now() - (await lastPurgedAt(postgres)) < purgeEveryMs(config)) return;
    await markPurged(postgres, await purgePeople({ ...erasureDeps, forgotten, log }, due));
  }

  const steps = [
    { queue: ERASURE_QUEUE, lock: 'erasure', work: erase },
    { queue: PURGE_QUEUE, lock: 'purge', work: purge },
  ] as const;
  const workers = steps.map(({ queue, lock, work }) => {
    const runWithLock = () =>
      withAdvisoryLock(postgres, { of: lock, signal: stopping.signal }, work).catch(failWithoutIds);
    const worker = new Worker(queue, runWithLock, { connection: redis.duplicate() });
    worker.on('failed', (_job, err) => {
      if (!stopping.signal.aborted) log.error({ err, queue }, 'an erasure failed; it goes on within seconds');
    });
    worker.on('error', (err) => log.warn({ err }, 'the erasure worker lost touch with redis'));
    return worker;
  });
  return {
    async close() {
      stopping.abort();
      await Promise.all(workers.map((worker) => worker.close()));
      await Promise.all([ingestQueue, identifyQueue, ...queues].map((queue) => queue.close()));
      await postgres.destroy();
    },
  };
}

/**
 * Minimum time between two purges, because a purge rewrites files and locks tables: frequent
 * erasures must not slow down everyone else. A third of the time between the earliest purge and its
 * deadline leaves room to finish.
 */
const purgeEveryMs = ({ PRIVACY_PURGE_DELAY_MS: delayMs, PRIVACY_PURGE_BY_MS: byMs }: Config): number =>
  Math.min(delayMs, byMs - delayMs) / 3;

/**
 * Messages of database errors may quote ids, which neither jobs nor logs may contain, so only the
 * code is kept.
 */
function failWithoutIds(error: unknown): never {
  if (error instanceof Error && 'code' in error) throw new Error(`${error.name} ${String(error.code)}`);
  throw error;
}

const TOMBSTONE_KEPT_MS = 7 * 86_400_000;

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
