// Queues of erasures, purges and project deletions. A job only triggers a run; the requests are in
// PostgreSQL, so that losing a job loses nothing, and no job contains an id. The schedules of the
// workers trigger runs too, for requests whose job was never added.
import type { Queue } from 'bullmq';
import type { Redis } from '../platform/redis/client.js';
import { openQueue } from '../platform/redis/open-queue.js';

export const ERASURE_QUEUE = 'erasure';
export const PURGE_QUEUE = 'erasure-purge';
export const PROJECT_DELETION_QUEUE = 'project-deletion';

interface ErasureJob {
  readonly version: 1;
}

export type ErasureQueue = Queue<ErasureJob, void, string>;

/** Failed work is repeated by the next job, so no job is kept. */
export const createErasureQueue = (redis: Redis): ErasureQueue =>
  openQueue(ERASURE_QUEUE, redis, { removeOnComplete: true, removeOnFail: true });

/** Triggers a run for a new request. */
export async function enqueueErasure(queue: ErasureQueue): Promise<void> {
  await queue.add('requested', { version: 1 });
}

/** The request's name among the holders of pending sequence numbers (identity/sequence.ts). */
export const sequenceMember = (requestId: string): string => `erasure:${requestId}`;
