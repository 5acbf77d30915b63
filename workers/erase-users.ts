// Erasure jobs → people deleted, and after a while purged from the files. A job erases until no request is left, of all
// projects in rotation (privacy/erase-requested.ts). A job that fails is not tried again; the next one, which the schedule
// brings within seconds, goes on where it stood.
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
  // Connections of its own: erasures of several projects and two locks would take all that the other jobs share.
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
  // For a Redis that has lost them.
  await publishTombstones(erasureDeps);

  // Every request brings a job: a hundred that find nothing left to do need not tidy a hundred times.
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
    { queue: ERASURE_QUEUE, turn: 'erasure', work: erase },
    { queue: PURGE_QUEUE, turn: 'purge', work: purge },
  ] as const;
  const workers = steps.map(({ queue, turn, work }) => {
    const takeTurn = () =>
      withAdvisoryLock(postgres, { of: turn, signal: stopping.signal }, work).catch(failWithoutIds);
    const worker = new Worker(queue, takeTurn, { connection: redis.duplicate() });
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
 * The least time between two purges, which rewrite files and lock tables: someone who has a person erased every minute must not
 * keep all others waiting all the time. A third of what lies between the earliest purge and its promise leaves time for it.
 */
const purgeEveryMs = ({ PRIVACY_PURGE_DELAY_MS: delayMs, PRIVACY_PURGE_BY_MS: byMs }: Config): number =>
  Math.min(delayMs, byMs - delayMs) / 3;

/** What a database says may quote ids, and neither a job nor a log may hold them: of its errors only the code remains. */
function failWithoutIds(error: unknown): never {
  if (error instanceof Error && 'code' in error) throw new Error(`${error.name} ${String(error.code)}`);
  throw error;
}

const WATERMARK_KEPT_MS = 7 * 86_400_000;

/** Sequence numbers of requests that never came to be or are done, and tombstones that nothing can meet any more. */
async function tidy(deps: ErasureDeps): Promise<void> {
  const pending = await findPendingSince(deps.redis, Date.now() - 60_000);
  const waiting = new Set((await listWaitingIds(deps.postgres)).map(sequenceMember));
  const done = pending.filter((member) => member.startsWith(sequenceMember('')) && !waiting.has(member));
  if (done.length > 0) await releaseSequence(deps.redis, ...done);
  await deleteTombstones(deps.postgres, Date.now() - WATERMARK_KEPT_MS);
  await publishTombstones(deps);
}
