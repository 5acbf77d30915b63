// The identify queue: job payload and enqueue. A job is one batch of calls that were committed
// together.
import type { Job, Queue } from 'bullmq';
import { PublicError } from '../platform/errors.js';
import { type Backlog, NOTHING } from '../platform/flow/backlog.js';
import { BOUNDS } from '../platform/flow/bounds.js';
import type { Commit } from '../platform/flow/group-commit.js';
import { newUuidV7 } from '../platform/ids.js';
import type { Redis } from '../platform/redis/client.js';
import { DURABLE_JOB_OPTIONS } from '../platform/redis/durable-job-options.js';
import { readHead, startTag } from '../platform/redis/fair-order.js';
import { openQueue } from '../platform/redis/open-queue.js';
import { executed } from '../platform/redis/transaction.js';
import type { PropertyOps } from './property-ops.js';
import { takeSequence } from './sequence.js';

export const IDENTIFY_QUEUE = 'identify';

/** An accepted call: project, user, device and operations. */
export interface Identification {
  readonly project: string;
  readonly user: string;
  readonly device?: string;
  readonly ops: PropertyOps;
  /** Time of the record of an import, microseconds; its properties are only set. */
  readonly at?: number;
  /** Id of the request. */
  readonly request?: string;
}

export type AcceptedIdentification = Identification & {
  readonly seq: number;
  /** Only of a replayed dead letter: its earlier number, by which erasures decide about it. */
  readonly acceptedSeq?: number;
};

export interface IdentifyJob {
  readonly version: 1;
  /** Also the job id, and the batch's name in the list of pending numbers. */
  readonly batch: string;
  readonly operations: readonly AcceptedIdentification[];
  /** Size of the calls. Missing in jobs from before November 2026. */
  readonly bytes?: number;
}

/** Unused numbers are swept much later (workers/sweep-identities.ts). */
const ADDED_WITHIN_MS = 30_000;

export type IdentifyQueue = Queue<IdentifyJob, void, 'batch'>;

export const createIdentifyQueue = (redis: Redis): IdentifyQueue =>
  openQueue(IDENTIFY_QUEUE, redis, DURABLE_JOB_OPTIONS);

/** Bytes that a commit adds to the backlog of each project, assuming calls of equal size. */
export function sharesOfCalls({ items, bytes }: Pick<Commit<Identification>, 'items' | 'bytes'>): Map<string, number> {
  const shares = new Map<string, number>();
  for (const { project } of items) shares.set(project, (shares.get(project) ?? 0) + bytes / items.length);
  return shares;
}

/** Bytes per fairness tag: a larger backlog waits longer. */
const TAG_BYTES = BOUNDS.identifyCommitBytes;

type IdentifyCommit = Pick<Commit<Identification>, 'items' | 'weight'> & {
  /**
   * The project of all calls, if it has a backlog: its jobs wait in fair order (fair-order.ts),
   * after all others.
   */
  readonly key?: string;
  readonly bytes?: number;
  /** The backlog of that project. */
  readonly backlogBytes?: number;
};

/**
 * Resolves once Redis holds the calls with their sequence numbers, which ascend in the order of
 * calls.
 */
export async function enqueueIdentify(queue: IdentifyQueue, redis: Redis, commit: IdentifyCommit): Promise<void> {
  const { key = '', bytes = 0, backlogBytes = 0 } = commit;
  const batch = key === '' ? newUuidV7() : `${newUuidV7()}-${key}-${bytes}`;
  const priority =
    key === '' ? undefined : startTag((await executed(readHead(redis.multi(), queue)))[0], backlogBytes / TAG_BYTES);
  const startedMs = performance.now();
  // Numbers before job: a job must never run with numbers that are not listed as pending. Numbers
  // without a job are swept.
  const first = await takeSequence(redis, { member: batch, count: commit.items.length });
  const operations = commit.items.map((item, position) => ({ seq: first + position, ...item }));
  const job = { version: 1, batch, operations, bytes } as const;
  await queue.add('batch', job, { jobId: batch, ...(priority !== undefined && { priority }) });
  // The process may have stalled, so that the numbers of this job were swept: then it is not
  // applied.
  if (performance.now() - startedMs > ADDED_WITHIN_MS) {
    throw new PublicError('unavailable', 'the call could not be stored in time; send it again');
  }
}

const BULK_ID = /^.{36}-(.{36})-(\d+)$/;

/** Undefined for a batch that may have calls of any project. */
export const projectOfBatch = (batch: string): string | undefined => BULK_ID.exec(batch)?.[1];

/** The backlog of each project with jobs of its own, computed from the job ids in the queue. */
export async function readBacklogs(queue: IdentifyQueue, redis: Redis): Promise<Map<string, Backlog>> {
  const backlogs = new Map<string, Backlog>();
  for (const id of await redis.zrange(queue.toKey('prioritized'), 0, -1)) {
    const [, project, bytes] = BULK_ID.exec(id) ?? [];
    if (project === undefined) continue;
    const known = backlogs.get(project) ?? NOTHING;
    backlogs.set(project, { jobs: known.jobs + 1, bytes: known.bytes + Number(bytes) });
  }
  return backlogs;
}

/**
 * Takes new numbers for a dead letter before it is replayed: it is applied after all later calls.
 */
export async function renumberBatch(redis: Redis, job: Job<IdentifyJob>): Promise<void> {
  const { batch, operations } = job.data;
  const first = await takeSequence(redis, { member: batch, count: operations.length });
  const renumbered = operations.map((operation, position) => ({
    ...operation,
    seq: first + position,
    acceptedSeq: operation.acceptedSeq ?? operation.seq,
  }));
  await job.updateData({ ...job.data, operations: renumbered });
}
