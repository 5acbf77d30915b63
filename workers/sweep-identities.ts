// Every minute: numbers whose job never came to be are given up, and tails that nothing can precede any more are settled.
import { Worker } from 'bullmq';
import { createIdentifyQueue, type IdentifyQueue } from '../src/identity/queue.js';
import { findPendingSince, lowWatermark, releaseSequence } from '../src/identity/sequence.js';
import { settleProfiles } from '../src/identity/store.js';
import type { Redis } from '../src/platform/redis/client.js';
import { openQueue } from '../src/platform/redis/open-queue.js';
import type { RunningJob, WorkerDeps } from './runtime.js';

const QUEUE = 'sweep-identities';
const EVERY_MS = 60_000;

export async function startIdentitySweep(deps: WorkerDeps): Promise<RunningJob> {
  const { redis, log } = deps;
  const schedule = openQueue(QUEUE, { connection: redis });
  await schedule.upsertJobScheduler(QUEUE, { every: EVERY_MS }, { opts: { removeOnComplete: true, removeOnFail: 10 } });
  const identifyQueue = createIdentifyQueue(redis);
  const worker = new Worker(
    QUEUE,
    async () => {
      const swept = await sweepPending(redis, identifyQueue, Date.now());
      if (swept > 0) log.warn({ swept }, 'batches that never became jobs were given up');
      await settleAll(deps);
    },
    { connection: redis.duplicate() },
  );
  worker.on('error', (err) => log.warn({ err }, 'the identity sweep lost touch with redis'));
  return {
    async close() {
      await worker.close();
      await identifyQueue.close();
      await schedule.close();
    },
  };
}

// What is left then is the next sweep's, and a worker that is told to stop waits no longer than this.
const SETTLING_MS = 10_000;

/** Under load every call leaves a tail, as long as another call is on its way. */
async function settleAll({ postgres, redis }: Pick<WorkerDeps, 'postgres' | 'redis'>): Promise<void> {
  const until = Date.now() + SETTLING_MS;
  const watermark = await lowWatermark(redis);
  while ((await settleProfiles(postgres, watermark)) > 0 && Date.now() < until);
}

// A job is added within half a minute of taking its numbers, or its client has been told of the failure. The longer numbers stay
// pending, the longer the tails of everybody grow.
const ORPHAN_AGE_MS = 2 * 60_000;
const ERASURE = 'erasure:';

/** Releases batches of which there is no job, or one that was given up. Resolves with how many. */
export async function sweepPending(redis: Redis, queue: IdentifyQueue, now: number): Promise<number> {
  let swept = 0;
  for (const member of await findPendingSince(redis, now - ORPHAN_AGE_MS)) {
    // Erasures say themselves when they are done.
    if (member.startsWith(ERASURE) || (await isStillToRun(queue, member))) continue;
    await releaseSequence(redis, member);
    swept += 1;
  }
  return swept;
}

async function isStillToRun(queue: IdentifyQueue, id: string): Promise<boolean> {
  const job = await queue.getJob(id);
  return job !== undefined && !(await job.isFailed());
}
