// The ingest queues: what a job holds, how it is put in, how it is taken out. The events themselves lie beside the job
// under a key of their own (claims.ts), so that BullMQ does not turn them into text again.
// Projects with a small backlog share jobs in the prompt queue, first in, first out; one with a larger backlog has jobs of its own in
// the bulk queue, in fair order (fair-order.ts).
import { type Queue, QueueKeys } from 'bullmq';
import type { Commit } from '../platform/group-commit.js';
import type { Redis } from '../platform/redis/client.js';
import { DURABLE_JOB_OPTIONS } from '../platform/redis/durable-job-options.js';
import { readHead, startTag } from '../platform/redis/fair-order.js';
import { openQueue } from '../platform/redis/open-queue.js';
import { executed } from '../platform/redis/transaction.js';
import { countAccepted } from '../usage/counters.js';
import { CANARY_PROJECT } from './canary.js';
import { jobIdOfPayload, newClaim, projectOfJob, setClaim, sharesOf } from './claims.js';
import { type Envelope, encodeEnvelope } from './envelope.js';

export const INGEST_QUEUE = 'ingest';
export const BULK_QUEUE = 'ingest-bulk';

export interface IngestJob {
  readonly version: 1;
  /** Redis key of the envelopes. */
  readonly claim: string;
  /** Events in the envelopes. */
  readonly events: number;
  /** Size of the envelopes. Missing in jobs from before November 2026. */
  readonly bytes?: number;
  /** Of a job that was given up: the requests whose events it still holds. */
  readonly requests?: readonly string[];
}

// The event stream of a queue is for dashboards; it must not grow with the traffic.
const EVENT_STREAM_LENGTH = 100;

export type IngestQueue = Queue<IngestJob, void, 'events'>;

export function createIngestQueue(redis: Redis, name = INGEST_QUEUE): IngestQueue {
  return openQueue<IngestJob, void, 'events'>(name, {
    connection: redis,
    streams: { events: { maxLen: EVENT_STREAM_LENGTH } },
    skipMetasUpdate: true,
    defaultJobOptions: DURABLE_JOB_OPTIONS,
  });
}

export const isIngestQueue = (name: string): boolean => name === INGEST_QUEUE || name === BULK_QUEUE;

/** A commit that has so many bytes is full, so that a job is never much larger than one request may be. */
export const COMMIT_BYTES_MAX = 4 * 1024 * 1024;

/** A project whose backlog is larger, the new request included, has jobs of its own. About a thousand small events. */
export const PROMPT_BYTES_MAX = 512 * 1024;

/**
 * Resolves once Redis holds the events and the job that stands for them. The key of the commit is the project of all its events, for
 * the bulk queue, or empty, for the prompt one.
 */
export async function enqueueIngest(
  queue: IngestQueue,
  redis: Redis,
  commit: Pick<Commit<Envelope>, 'items' | 'weight'> & { readonly key?: string },
): Promise<void> {
  const { items, weight, key = '' } = commit;
  const claim = newClaim(key);
  // The events first: a job whose claim is missing would be a loss, a claim without a job is swept up.
  const envelopes = Buffer.concat(items.map(encodeEnvelope));
  const transaction = redis.multi();
  const counted = items.filter(({ header }) => header.p !== CANARY_PROJECT);
  countAccepted(
    transaction,
    counted.map(({ header }) => ({ projectId: header.p, events: header.n, at: header.t })),
  );
  setClaim(transaction, claim, { bytes: envelopes, shares: sharesOf(items) });
  if (key !== '') readHead(transaction, queue);
  const replies = await executed(transaction);
  const priority = key === '' ? undefined : startTag(replies.at(-1), Number(replies.at(-2)) / TAG_BYTES);
  const job = { version: 1, claim, events: weight, bytes: envelopes.length } as const;
  await queue.add('events', job, { jobId: jobIdOfPayload(claim), ...(priority !== undefined && { priority }) });
}

/** A worker holds a few of these at a time anyway. */
const TAG_BYTES = 8 * 1024 * 1024;

const KEYS = new QueueKeys();

/** Ids of the jobs of both queues that some worker has begun and not ended, or has died over. */
export async function listActiveJobs(redis: Redis): Promise<string[]> {
  const lists = [INGEST_QUEUE, BULK_QUEUE].map((name) => redis.lrange(KEYS.toKey(name, 'active'), 0, -1));
  return (await Promise.all(lists)).flat();
}

/** Whether the job of a claim is there, in whatever state. */
export async function isJobOfClaimKnown(redis: Redis, claim: string): Promise<boolean> {
  const id = jobIdOfPayload(claim);
  const queue = projectOfJob(id) === undefined ? INGEST_QUEUE : BULK_QUEUE;
  return (await redis.exists(KEYS.toKey(queue, id))) === 1;
}
