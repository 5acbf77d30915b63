// Scheduled sweep: every ten minutes deletes payloads without a job, which crashes leave behind, and first times older than a day.
import { Worker } from 'bullmq';
import { sweepFirstTimes } from '../src/ingest/first-times.js';
import { claimedAt, claimPattern, createIngestQueue, type IngestQueue, jobIdOfClaim } from '../src/ingest/queue.js';
import type { Redis } from '../src/platform/redis/client.js';
import { openQueue } from '../src/platform/redis/open-queue.js';
import type { RunningJob, WorkerDeps } from './runtime.js';

const QUEUE = 'sweep-claims';
const EVERY_MS = 10 * 60_000;

export async function startClaimSweep({ redis, log }: WorkerDeps): Promise<RunningJob> {
  const schedule = openQueue(QUEUE, { connection: redis });
  // Upserts are idempotent: one scheduler exists, however many processes declare it.
  await schedule.upsertJobScheduler(QUEUE, { every: EVERY_MS }, { opts: { removeOnComplete: true, removeOnFail: 10 } });
  const ingestQueue = createIngestQueue(redis);
  const worker = new Worker(
    QUEUE,
    async () => {
      await sweepFirstTimes(redis, Date.now());
      const swept = await sweepClaims(redis, ingestQueue, Date.now());
      if (swept > 0) log.warn({ swept }, 'claims without a job were deleted');
    },
    { connection: redis.duplicate() },
  );
  worker.on('error', (err) => log.warn({ err }, 'the claim sweep lost touch with redis'));
  return {
    async close() {
      await worker.close();
      await ingestQueue.close();
      await schedule.close();
    },
  };
}

const ORPHAN_AGE_MS = 60 * 60_000;
const SCAN_COUNT = 500;

/** Deletes payloads older than an hour whose job was never added or has ended. Resolves with their number. */
export async function sweepClaims(redis: Redis, queue: IngestQueue, now: number): Promise<number> {
  let swept = 0;
  for await (const keys of redis.scanStream({ match: claimPattern, count: SCAN_COUNT })) {
    for (const key of keys as string[]) {
      const at = claimedAt(key);
      if (at === undefined || now - at < ORPHAN_AGE_MS) continue;
      if ((await queue.getJob(jobIdOfClaim(key))) !== undefined) continue;
      swept += await redis.unlink(key);
    }
  }
  return swept;
}
