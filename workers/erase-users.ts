// Erasure jobs → people deleted, and after a while purged from the files. All requests that are there are taken at once: a
// hundred cost a few times what one does. A job that fails is not tried again; the next one, which the schedule brings within
// seconds, goes on where it stood.
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'bullmq';
import { createIdentifyQueue } from '../src/identity/queue.js';
import { findPendingSince, lowWatermark, releaseSequence } from '../src/identity/sequence.js';
import { createIngestQueue } from '../src/ingest/queue.js';
import { createAskedGauge } from '../src/platform/asked-gauge.js';
import type { Logger } from '../src/platform/log.js';
import { type ErasureDeps, erasePeople } from '../src/privacy/erase-people.js';
import { createIdHash } from '../src/privacy/id-hash.js';
import { purgePeople } from '../src/privacy/purge-people.js';
import {
  createErasureQueue,
  ERASURE_QUEUE,
  PURGE_QUEUE,
  scheduleErasure,
  sequenceMember,
} from '../src/privacy/queue.js';
import { shareWatermarks } from '../src/privacy/share-watermarks.js';
import {
  countOverdue,
  dropWatermarks,
  type Erasure,
  listDeleted,
  listRequested,
  markDeleted,
  markPurged,
} from '../src/privacy/store.js';
import { inTurn } from '../src/privacy/turn.js';
import { ForgottenPeople } from '../src/privacy/watermarks.js';
import type { RunningJob, WorkerDeps } from './runtime.js';

const SWEEP_MS = 5_000;

export async function startErasure(deps: WorkerDeps): Promise<RunningJob> {
  const { config, redis, postgres, log } = deps;
  const stopping = new AbortController();
  const ingestQueue = createIngestQueue(redis);
  const identifyQueue = createIdentifyQueue(redis);
  const hashId = createIdHash(config.SECRET_KEY_BASE);
  const erasureDeps: ErasureDeps = { ...deps, ingestQueue, identifyQueue, hashId, signal: stopping.signal };
  const forgotten = new ForgottenPeople(redis, hashId);

  createAskedGauge(
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
  await shareWatermarks(deps);

  async function erase(): Promise<void> {
    try {
      await eraseRequested(erasureDeps, log);
    } finally {
      await tidy(erasureDeps);
    }
  }

  async function purge(): Promise<void> {
    const due = await listDeleted(postgres, new Date(Date.now() - config.PRIVACY_PURGE_DELAY_MS));
    if (due.length === 0) return;
    await markPurged(postgres, await purgePeople({ ...erasureDeps, forgotten, log }, due));
  }

  const steps = [
    { queue: ERASURE_QUEUE, turn: 'erasure', work: erase },
    { queue: PURGE_QUEUE, turn: 'purge', work: purge },
  ] as const;
  const workers = steps.map(({ queue, turn, work }) => {
    const takeTurn = () => inTurn(postgres, { of: turn, signal: stopping.signal }, work).catch(failWithoutIds);
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
    },
  };
}

/** What a database says may quote ids, and neither a job nor a log may hold them: of its errors only the code remains. */
function failWithoutIds(error: unknown): never {
  if (error instanceof Error && 'code' in error) throw new Error(`${error.name} ${String(error.code)}`);
  throw error;
}

const WAIT_FOR_IDENTIFY_MS = 10_000;
const POLL_MS = 50;

/** Until there are none, or those that there are wait for identify calls that do not come to be applied. */
async function eraseRequested(deps: ErasureDeps, log: Logger): Promise<void> {
  const deadline = Date.now() + WAIT_FOR_IDENTIFY_MS;
  for (;;) {
    const requested = await listRequested(deps.postgres);
    if (requested.length === 0 || Date.now() > deadline) return;
    const ready = await thoseApplied(deps, requested);
    if (ready.length === 0) {
      await delay(POLL_MS, undefined, { signal: deps.signal });
      continue;
    }
    await eraseTogether(deps, ready).catch(async (error: unknown) => {
      if (ready.length === 1 || deps.signal.aborted) throw error;
      log.warn({ erasures: ready.length }, 'erasures failed together; trying each alone');
      await eraseEachAlone(deps, ready);
    });
  }
}

async function eraseTogether(deps: ErasureDeps, erasures: readonly Erasure[]): Promise<void> {
  await erasePeople(deps, erasures);
  for (const erasure of erasures) await markDeleted(deps.postgres, erasure);
  await releaseSequence(deps.redis, ...erasures.map(({ id }) => sequenceMember(id)));
}

/** One person who cannot be erased must not keep the others waiting. Throws what failed first, when all have been tried. */
async function eraseEachAlone(deps: ErasureDeps, erasures: readonly Erasure[]): Promise<void> {
  const failures: unknown[] = [];
  for (const erasure of erasures) {
    await eraseTogether(deps, [erasure]).catch((error: unknown) => failures.push(error));
  }
  if (failures.length > 0) throw failures[0];
}

/** Those whose identify calls have all been applied; of several for one person, the first. */
async function thoseApplied(deps: ErasureDeps, requested: readonly Erasure[]): Promise<Erasure[]> {
  const except = await pendingErasures(deps);
  const appliedUpTo = await lowWatermark(deps.redis, { except });
  const people = new Set<string>();
  return requested.filter(({ projectId, userHash, cutSeq }) => {
    const person = `${projectId}:${userHash}`;
    if (cutSeq >= appliedUpTo || people.has(person)) return false;
    people.add(person);
    return true;
  });
}

const DAY_MS = 86_400_000;

async function pendingErasures({ redis }: ErasureDeps): Promise<string[]> {
  const pending = await findPendingSince(redis, Date.now() + DAY_MS);
  return pending.filter((member) => member.startsWith(sequenceMember('')));
}

const WATERMARK_KEPT_MS = 7 * DAY_MS;

/** Sequence numbers of requests that never came to be or are done, and watermarks that nothing can meet any more. */
async function tidy(deps: ErasureDeps): Promise<void> {
  const pending = await findPendingSince(deps.redis, Date.now() - 60_000);
  const waiting = new Set((await listRequested(deps.postgres)).map(({ id }) => sequenceMember(id)));
  const done = pending.filter((member) => member.startsWith(sequenceMember('')) && !waiting.has(member));
  if (done.length > 0) await releaseSequence(deps.redis, ...done);
  await dropWatermarks(deps.postgres, Date.now() - WATERMARK_KEPT_MS);
  await shareWatermarks(deps);
}
