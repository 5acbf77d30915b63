// The ingest queues: job payload, enqueue and lookup. The events are a payload under a key of their
// own (payloads.ts), so that BullMQ does not serialize them again. Projects with a small backlog
// share jobs in the prompt queue, first in, first out; a project with a larger backlog has its own
// jobs in the bulk queue, in fair order (fair-order.ts). Each shard has a pair of queues, so that
// the jobs of one that is unavailable hold up no others.
import { type Queue, QueueKeys } from 'bullmq';
import { FIRST_SHARD } from '../platform/clickhouse/shards.js';
import type { Backlog } from '../platform/flow/backlog.js';
import type { Commit } from '../platform/flow/group-commit.js';
import type { Redis } from '../platform/redis/client.js';
import { DURABLE_JOB_OPTIONS } from '../platform/redis/durable-job-options.js';
import { readHead, startTag } from '../platform/redis/fair-order.js';
import { openQueue } from '../platform/redis/open-queue.js';
import { executed } from '../platform/redis/transaction.js';
import { countAccepted } from '../usage/counters.js';
import { shardOfCanary } from './canary.js';
import { type Envelope, encodeEnvelopes } from './envelope.js';
import { firstTimesBytes } from './first-seen-times.js';
import { jobIdOfPayload, newPayloadKey, projectOfJob, setPayload, shardOfJob, sharesOf } from './payloads.js';

const INGEST_QUEUE = 'ingest';
export const BULK_QUEUE = 'ingest-bulk';

/** The prompt and the bulk queue of a shard. */
export const ingestQueuesOf = (shard: number): readonly [prompt: string, bulk: string] =>
  shard === FIRST_SHARD ? [INGEST_QUEUE, BULK_QUEUE] : [`${INGEST_QUEUE}-${shard}`, `${BULK_QUEUE}-${shard}`];

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

/** The queues of each shard, opened when they are first used. */
export class IngestQueues {
  readonly #redis: Redis;
  readonly #open = new Map<number, readonly [prompt: IngestQueue, bulk: IngestQueue]>();

  constructor(redis: Redis) {
    this.#redis = redis;
  }

  of(shard: number): readonly [prompt: IngestQueue, bulk: IngestQueue] {
    const known = this.#open.get(shard);
    if (known !== undefined) return known;
    const [prompt, bulk] = ingestQueuesOf(shard);
    const opened = [createIngestQueue(this.#redis, prompt), createIngestQueue(this.#redis, bulk)] as const;
    this.#open.set(shard, opened);
    return opened;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open.values()].flat().map((queue) => queue.close()));
  }
}

const INGEST_NAME = /^ingest(-bulk)?(-\d+)?$/;

/** Whether the queue is an ingest queue of any shard. */
export const isIngestQueue = (name: string): boolean => INGEST_NAME.test(name);

/**
 * Resolves with the id of the job once Redis holds it and its payload. `key` is the project of all
 * events (bulk queue), or empty (prompt queue); `queue` is one of the shard.
 */
export async function enqueueIngest(
  queue: IngestQueue,
  redis: Redis,
  commit: Pick<Commit<Envelope>, 'items' | 'weight'> & { readonly key?: string; readonly shard?: number | undefined },
): Promise<string> {
  const { items, weight, key = '', shard } = commit;
  const payloadKey = newPayloadKey({ project: key, shard });
  // Payload before job: a job without a payload would lose events, and a payload without a job is
  // swept.
  const envelopes = encodeEnvelopes(items);
  const transaction = redis.multi();
  // So that an idle service has nothing to roll up.
  const counted = items.filter(({ header }) => shardOfCanary(header.p) === undefined);
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

/**
 * Requests of one shard, and of one project or of several that have a small backlog, share a job.
 */
interface CommitGroup {
  /** Empty in the prompt queue. */
  readonly project: string;
  /** Undefined with one shard. */
  readonly shard: number | undefined;
}

/** Key of a group commit. */
export const toCommitKey = ({ project, shard }: CommitGroup): string =>
  shard === undefined ? project : `${project}.${shard}`;

export function parseCommitKey(key: string): CommitGroup {
  const [project = '', shard] = key.split('.');
  return { project, shard: shard === undefined ? undefined : Number(shard) };
}

/** Bytes per fairness tag; a worker holds several of these at once anyway. */
const TAG_BYTES = 8 * 1024 * 1024;

const KEYS = new QueueKeys();

/**
 * Job ids of the queues of these shards that a worker has started and not finished, including those
 * of workers that died.
 */
export async function listActiveJobs(redis: Redis, shards: readonly number[]): Promise<string[]> {
  const lists = shards.flatMap(ingestQueuesOf).map((name) => redis.lrange(KEYS.toKey(name, 'active'), 0, -1));
  return (await Promise.all(lists)).flat();
}

/** Whether the job of a payload exists, in any state. */
export const isJobOfPayloadKnown = (redis: Redis, payloadKey: string): Promise<boolean> =>
  isJobKnown(redis, jobIdOfPayload(payloadKey));

/** Whether a job exists, in any state: a job that stored its events is removed at once. */
export async function isJobKnown(redis: Redis, id: string): Promise<boolean> {
  const [prompt, bulk] = ingestQueuesOf(shardOfJob(id));
  const queue = projectOfJob(id) === undefined ? prompt : bulk;
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
