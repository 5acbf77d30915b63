// The ingest queue: what a job holds, how it is put in, how it is taken out. The events themselves lie beside the job
// under a key of their own (claim check), so that BullMQ does not turn them into text again.
import type { Queue } from 'bullmq';
import type { Commit } from '../platform/group-commit.js';
import { newUuidV7 } from '../platform/ids.js';
import type { Redis } from '../platform/redis/client.js';
import { openQueue } from '../platform/redis/open-queue.js';
import { PATIENT_JOB_OPTIONS } from '../platform/redis/patient-jobs.js';
import { executed } from '../platform/redis/transaction.js';
import { countAccepted } from '../usage/counters.js';
import { CANARY_PROJECT } from './canary.js';
import { encodeFrame, type Frame } from './frame.js';

export const INGEST_QUEUE = 'ingest';

export interface IngestJob {
  readonly version: 1;
  /** Redis key of the frames. */
  readonly claim: string;
  /** Events in the frames. */
  readonly events: number;
  /** Size of the frames. Missing in jobs from before November 2026. */
  readonly bytes?: number;
  /** Of a job that was given up: the requests whose events it still holds. */
  readonly requests?: readonly string[];
}

const CLAIM_PREFIX = 'ingest:claim:';

// The event stream of a queue is for dashboards; it must not grow with the traffic.
const EVENT_STREAM_LENGTH = 100;

export type IngestQueue = Queue<IngestJob, void, 'events'>;

export function createIngestQueue(redis: Redis): IngestQueue {
  return openQueue<IngestJob, void, 'events'>(INGEST_QUEUE, {
    connection: redis,
    streams: { events: { maxLen: EVENT_STREAM_LENGTH } },
    skipMetasUpdate: true,
    defaultJobOptions: PATIENT_JOB_OPTIONS,
  });
}

/** A commit that has so many bytes is full, so that a job is never much larger than one request may be. */
export const COMMIT_BYTES_MAX = 4 * 1024 * 1024;

/** Resolves once Redis holds the events and the job that stands for them. */
export async function enqueueIngest(
  queue: IngestQueue,
  redis: Redis,
  commit: Pick<Commit<Frame>, 'items' | 'weight'>,
): Promise<void> {
  const id = newUuidV7();
  const claim = CLAIM_PREFIX + id;
  // The events first: a job whose claim is missing would be a loss, a claim without a job is swept up.
  const frames = Buffer.concat(commit.items.map(encodeFrame));
  const transaction = redis.multi().set(claim, frames);
  countAccepted(
    transaction,
    commit.items
      .filter(({ header }) => header.p !== CANARY_PROJECT)
      .map(({ header }) => ({ projectId: header.p, events: header.n, at: header.t })),
  );
  await executed(transaction);
  await queue.add('events', { version: 1, claim, events: commit.weight, bytes: frames.length }, { jobId: id });
}

/** When a claim was written; undefined for a key that is none. */
export function claimedAt(key: string): number | undefined {
  const id = key.startsWith(CLAIM_PREFIX) ? key.slice(CLAIM_PREFIX.length) : '';
  const milliseconds = Number.parseInt(id.slice(0, 13).replace('-', ''), 16);
  return Number.isNaN(milliseconds) ? undefined : milliseconds;
}

export const claimPattern = `${CLAIM_PREFIX}*`;
export const jobIdOfClaim = (key: string): string => key.slice(CLAIM_PREFIX.length);

/** Ids of the jobs that some worker has begun and not ended, or has died over. */
export const listActiveJobs = (queue: IngestQueue, redis: Redis): Promise<string[]> =>
  redis.lrange(queue.toKey('active'), 0, -1);
