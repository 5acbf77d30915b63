// Scheduled sweep: every minute releases sequence numbers without a job, and folds profile tails
// below the low watermark.
import { createIdentifyQueue, type IdentifyQueue } from '../src/identity/queue.js';
import { findPendingSince, lowWatermark, releaseSequence } from '../src/identity/sequence.js';
import { settleProfiles } from '../src/identity/store.js';
import type { Postgres } from '../src/platform/postgres/client.js';
import type { Redis } from '../src/platform/redis/client.js';
import { sequenceMember } from '../src/privacy/queue.js';
import type { Needs } from './runtime.js';
import { defineScheduledJob } from './scheduled-job.js';

export const startIdentitySweep = defineScheduledJob({
  name: 'sweep-identities',
  everyMs: 60_000,
  open({ postgres, redis, log }: Needs<'postgres' | 'redis' | 'log'>) {
    const identifyQueue = createIdentifyQueue(redis);
    return {
      async run() {
        const swept = await sweepPending(redis, identifyQueue);
        if (swept > 0) log.warn({ swept }, 'sequence numbers without a job were released');
        await settleAll(postgres, redis);
      },
      close: () => identifyQueue.close(),
    };
  },
});

// Time limit of one sweep, which also bounds the shutdown delay; the next sweep continues.
const SETTLING_MS = 10_000;

/** Profiles per statement. Under load every call leaves a tail while other calls are pending. */
async function settleAll(postgres: Postgres, redis: Redis): Promise<void> {
  const until = performance.now() + SETTLING_MS;
  const watermark = await lowWatermark(redis);
  while ((await settleProfiles(postgres, watermark)) > 0 && performance.now() < until);
}

// A job is added within 30 s of taking its numbers, or its request has failed. Pending numbers make
// all tails grow.
const ORPHAN_AGE_MS = 2 * 60_000;

/** Releases batches without a job or with a permanently failed one. Resolves with their number. */
export async function sweepPending(redis: Redis, queue: IdentifyQueue, ageMs = ORPHAN_AGE_MS): Promise<number> {
  // The clock that gave the numbers: by one that is ahead, a batch whose job is being added is old.
  const [seconds] = await redis.time();
  let swept = 0;
  for (const member of await findPendingSince(redis, Number(seconds) * 1000 - ageMs)) {
    // Erasures release their own numbers.
    if (member.startsWith(sequenceMember('')) || (await isStillToRun(queue, member))) continue;
    await releaseSequence(redis, member);
    swept += 1;
  }
  return swept;
}

async function isStillToRun(queue: IdentifyQueue, id: string): Promise<boolean> {
  const job = await queue.getJob(id);
  return job !== undefined && !(await job.isFailed());
}
