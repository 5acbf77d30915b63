// The ingest queues: job payload, enqueue and lookup. The events are a payload under a key of their
// own (payloads.ts), so that BullMQ does not serialize them again. Projects with a small backlog
// share jobs in the prompt queue, first in, first out; a project with a larger backlog has its own
// jobs in the bulk queue, in fair order (fair-order.ts).
import { type Queue, QueueKeys } from 'bullmq';
import type { Backlog } from '../platform/flow/backlog.js';
import type { Commit } from '../platform/flow/group-commit.js';
import type { Redis } from '../platform/redis/client.js';
import { DURABLE_JOB_OPTIONS } from '../platform/redis/durable-job-options.js';
import { readHead, startTag } from '../platform/redis/fair-order.js';
import { openQueue } from '../platform/redis/open-queue.js';
import { executed } from '../platform/redis/transaction.js';
import { countAccepted } from '../usage/counters.js';
import { CANARY_PROJECT } from './canary.js';
import { type Envelope, encodeEnvelope } from './envelope.js';
import { firstTimesBytes } from './first-seen-times.js';
import { jobIdOfPayload, newPayloadKey, projectOfJob, setPayload, sharesOf } from './payloads.js';

export const INGEST_QUEUE = 'ingest';
export const BULK_QUEUE = 'ingest-bulk';

export interface IngestJob {
  readonly version: 1;
  /** Redis key of the payload. */
  readonly claim: string;
  /** Events in the payload. */
  readonly events: number;
  /** Size of the payload. Missing in jobs from before November 2026. */
  readonly bytes?: number;
  /** Ids of the requests whose events a dead letter still holds. */
  readonly requests?: readonly string[];
}

export type IngestQueue = Queue<IngestJob, void, 'events'>;

export const createIngestQueue = (redis: Redis, name = INGEST_QUEUE): IngestQueue =>
  openQueue(name, redis, DURABLE_JOB_OPTIONS);

export const isIngestQueue = (name: string): boolean => name === INGEST_QUEUE || name === BULK_QUEUE;

/**
 * Resolves once Redis holds the payload and its job. The key of the commit is the project of all
 * its events (bulk queue), or empty (prompt queue). Resolves with the id of the job.
 */
export async function enqueueIngest(
  queue: IngestQueue,
  redis: Redis,
  commit: Pick<Commit<Envelope>, 'items' | 'weight'> & { readonly key?: string },
): Promise<string> {
  const { items, weight, key = '' } = commit;
  const payloadKey = newPayloadKey(key);
  // Payload before job: a job without a payload would lose events, and a payload without a job is
  // swept.
  const envelopes = Buffer.concat(items.map(encodeEnvelope));
  const transaction = redis.multi();
  const counted = items.filter(({ header }) => header.p !== CANARY_PROJECT);
  countAccepted(
    transaction,
    counted.map(({ header }) => ({ projectId: header.p, events: header.n, at: header.t })),
  );
  setPayload(transaction, payloadKey, { bytes: envelopes, shares: sharesOf(items) });
  if (key !== '') readHead(transaction, queue);
  const replies = await executed(transaction);
  const priority = key === '' ? undefined : startTag(replies.at(-1), Number(replies.at(-2)) / TAG_BYTES);
  const job = { version: 1, claim: payloadKey, events: weight, bytes: envelopes.length } as const;
  const jobId = jobIdOfPayload(payloadKey);
  await queue.add('events', job, { jobId, ...(priority !== undefined && { priority }) });
  return jobId;
}

/** Bytes per fairness tag; a worker holds several of these at once anyway. */
const TAG_BYTES = 8 * 1024 * 1024;

const KEYS = new QueueKeys();

/**
 * Job ids of both queues that a worker has started and not finished, including those of workers
 * that died.
 */
export async function listActiveJobs(redis: Redis): Promise<string[]> {
  const lists = [INGEST_QUEUE, BULK_QUEUE].map((name) => redis.lrange(KEYS.toKey(name, 'active'), 0, -1));
  return (await Promise.all(lists)).flat();
}

/** Whether the job of a payload exists, in any state. */
export const isJobOfPayloadKnown = (redis: Redis, payloadKey: string): Promise<boolean> =>
  isJobKnown(redis, jobIdOfPayload(payloadKey));

/** Whether a job exists, in any state: a job that stored its events is removed at once. */
export async function isJobKnown(redis: Redis, id: string): Promise<boolean> {
  const queue = projectOfJob(id) === undefined ? INGEST_QUEUE : BULK_QUEUE;
  return (await redis.exists(KEYS.toKey(queue, id))) === 1;
}

/** Jobs that wait in the queues, and the memory of Redis without first-seen times. */
export async function measureBacklog(queues: readonly Queue[], redis: Redis): Promise<Backlog> {
  const [memory, firstTimes, ...jobs] = await Promise.all([
    redis.info('memory'),
    firstTimesBytes(redis),
    ...queues.map((queue) => queue.getJobCountByTypes('waiting', 'prioritized', 'delayed')),
  ]);
  const used = Number(/^used_memory:(\d+)/m.exec(memory)?.[1] ?? 0);
  return { jobs: jobs.reduce((sum, count) => sum + count, 0), bytes: used - firstTimes };
}
