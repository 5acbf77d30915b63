// The identify queue: what a job holds, and how it is put in. A job is one batch: the calls that were committed together.
import type { Job, Queue } from 'bullmq';
import { PublicError } from '../platform/errors.js';
import type { Commit } from '../platform/group-commit.js';
import { newUuidV7 } from '../platform/ids.js';
import type { Redis } from '../platform/redis/client.js';
import { openQueue } from '../platform/redis/open-queue.js';
import { PATIENT_JOB_OPTIONS } from '../platform/redis/patient-jobs.js';
import type { PropertyOps } from './property-ops.js';
import { takeSequence } from './sequence.js';

export const IDENTIFY_QUEUE = 'identify';

/** A call that was accepted: of which project, who, and what. */
export interface Identification {
  readonly project: string;
  readonly user: string;
  readonly device?: string;
  readonly ops: PropertyOps;
  /** Id of the request. */
  readonly request?: string;
}

export interface IdentifyJob {
  readonly version: 1;
  /** Also the job's id, and its member among the pending of the sequence. */
  readonly batch: string;
  readonly operations: readonly (Identification & { readonly seq: number })[];
}

const EVENT_STREAM_LENGTH = 100;
/** Numbers are swept up a good deal later (workers/sweep-identities.ts). */
const ADDED_WITHIN_MS = 30_000;

export type IdentifyQueue = Queue<IdentifyJob, void, 'batch'>;

export function createIdentifyQueue(redis: Redis): IdentifyQueue {
  return openQueue<IdentifyJob, void, 'batch'>(IDENTIFY_QUEUE, {
    connection: redis,
    streams: { events: { maxLen: EVENT_STREAM_LENGTH } },
    skipMetasUpdate: true,
    defaultJobOptions: PATIENT_JOB_OPTIONS,
  });
}

/** A commit that has so many bytes is full: a worker holds many jobs at a time. */
export const COMMIT_BYTES_MAX = 256 * 1024;

/** Resolves once Redis holds the calls with their numbers, which rise in the order of the calls. */
export async function enqueueIdentify(
  queue: IdentifyQueue,
  redis: Redis,
  commit: Pick<Commit<Identification>, 'items' | 'weight'>,
): Promise<void> {
  const batch = newUuidV7();
  const startedMs = performance.now();
  // The numbers before the job: a job must never run with numbers that nobody knows to be pending. Numbers of a job that
  // never came to be are swept up.
  const first = await takeSequence(redis, { member: batch, count: commit.items.length });
  const operations = commit.items.map((item, position) => ({ seq: first + position, ...item }));
  await queue.add('batch', { version: 1, batch, operations }, { jobId: batch });
  // A process that slept in between may have added a job whose numbers were swept up: it will not be applied.
  if (performance.now() - startedMs > ADDED_WITHIN_MS) {
    throw new PublicError('unavailable', 'the call could not be stored in time; send it again');
  }
}

/** For a batch that was given up, before it runs again: it is applied after everything that came meanwhile. */
export async function renumberBatch(redis: Redis, job: Job<IdentifyJob>): Promise<void> {
  const { batch, operations } = job.data;
  const first = await takeSequence(redis, { member: batch, count: operations.length });
  const renumbered = operations.map((operation, position) => ({ ...operation, seq: first + position }));
  await job.updateData({ ...job.data, operations: renumbered });
}
