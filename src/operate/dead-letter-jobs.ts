// Dead letters: jobs that failed permanently. BullMQ keeps them in the failed set, with their
// payload, until an operator replays or discards them.
import type { Job, Queue } from 'bullmq';
import { IDENTIFY_QUEUE, type IdentifyJob, renumberBatch } from '../identity/queue.js';
import { decodeEnvelopes } from '../ingest/envelope.js';
import { discardPayload } from '../ingest/payloads.js';
import { type IngestJob, isIngestQueue } from '../ingest/queue.js';
import type { Redis } from '../platform/redis/client.js';
import { openQueueToRead } from '../platform/redis/open-queue.js';

export interface DeadLetterJob {
  readonly queue: string;
  readonly id: string;
  readonly failedAt: string;
  readonly attempts: number;
  readonly reason: string;
}

/** Opens the queue for one task and closes it afterwards. */
export async function withQueue<T>(redis: Redis, name: string, use: (queue: Queue) => Promise<T>): Promise<T> {
  const queue = openQueueToRead(name, redis);
  try {
    return await use(queue);
  } finally {
    await queue.close();
  }
}

/** Newest first. */
export async function listDeadLetters(queue: Queue): Promise<DeadLetterJob[]> {
  return (await queue.getFailed()).map((job) => describeDeadLetter(queue, job));
}

export const describeDeadLetter = (queue: Queue, job: Job): DeadLetterJob => ({
  queue: queue.name,
  id: job.id ?? '',
  failedAt: new Date(job.finishedOn ?? job.timestamp).toISOString(),
  attempts: job.attemptsMade,
  reason: job.failedReason ?? '',
});

/** The job with its payload; for an ingest job also the request bodies in it. */
export async function showDeadLetter(redis: Redis, queue: Queue, id: string): Promise<object> {
  const job = await requireDeadLetter(queue, id);
  const shown = { ...describeDeadLetter(queue, job), payload: job.data, stack: job.stacktrace };
  if (!isIngestQueue(queue.name)) return shown;
  const bytes = await redis.getBuffer((job.data as IngestJob).claim);
  const requests = bytes === null ? [] : decodeEnvelopes(bytes);
  return { ...shown, requests: requests.map(({ header, body }) => ({ header, body: body.toString('utf8') })) };
}

/** Resolves with the number of replayed jobs. */
export async function replayDeadLetters(redis: Redis, queue: Queue, id: string | undefined): Promise<number> {
  const jobs = id === undefined ? await queue.getFailed() : [await requireDeadLetter(queue, id)];
  // Reset the attempts: earlier ones would lengthen the backoff or exhaust the limit.
  for (const job of jobs) {
    if (queue.name === IDENTIFY_QUEUE) await renumberBatch(redis, job as Job<IdentifyJob>);
    await job.retry('failed', { resetAttemptsMade: true });
  }
  return jobs.length;
}

/** Deletes the job and its payload. */
export async function discardDeadLetter(redis: Redis, queue: Queue, id: string): Promise<void> {
  const job = await requireDeadLetter(queue, id);
  await job.remove();
  if (isIngestQueue(queue.name)) await discardPayload(redis, (job.data as IngestJob).claim);
}

async function requireDeadLetter(queue: Queue, id: string): Promise<Job> {
  const job = (await queue.getJob(id)) as Job | undefined;
  if (job === undefined) throw new Error(`the queue ${queue.name} has no job ${id}`);
  const state = await job.getState();
  if (state !== 'failed') throw new Error(`job ${id} of ${queue.name} is ${state}, not a dead letter`);
  return job;
}
