// The queues of erasure. A job says only that there is something to do; what it is stands in PostgreSQL, so that no job can
// be lost, and none holds an id. A schedule looks as well, for requests whose job never came to be.
import type { Queue } from 'bullmq';
import type { Redis } from '../platform/redis/client.js';
import { openQueue } from '../platform/redis/open-queue.js';

export const ERASURE_QUEUE = 'erasure';
export const PURGE_QUEUE = 'erasure-purge';
export const PROJECT_DELETION_QUEUE = 'project-deletion';

export interface ErasureJob {
  readonly version: 1;
}

export type ErasureQueue = Queue<ErasureJob, void, string>;

const EVENT_STREAM_LENGTH = 100;

/** Of one of the three above. What fails is done again by the next job: nothing is kept. */
export const createErasureQueue = (redis: Redis, name: string): ErasureQueue =>
  openQueue(name, {
    connection: redis,
    streams: { events: { maxLen: EVENT_STREAM_LENGTH } },
    defaultJobOptions: { removeOnComplete: true, removeOnFail: true },
  });

/** Says that there is a new request. */
export async function enqueueErasure(queue: ErasureQueue): Promise<void> {
  await queue.add('requested', { version: 1 });
}

/** Looks for something to do every so often. Safe to call from any number of processes: the schedule is one. */
export async function scheduleErasure(queue: ErasureQueue, everyMs: number): Promise<void> {
  await queue.upsertJobScheduler(`${queue.name}-sweep`, { every: everyMs }, { name: 'sweep', data: { version: 1 } });
}

/** How a request stands among those who have taken a sequence number and are not done (identity/sequence.ts). */
export const sequenceMember = (requestId: string): string => `erasure:${requestId}`;
