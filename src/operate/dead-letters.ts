// Dead letters of a project: failed jobs whose events or calls all belong to it. A job that also
// holds those of another project is shown to operators only. To whom a job belongs never changes,
// so it is read once; the payload of a job may have megabytes.
import type { Job, Queue } from 'bullmq';
import { LRUCache } from 'lru-cache';
import { IDENTIFY_QUEUE, type IdentifyJob } from '../identity/queue.js';
import { decodeEnvelopes } from '../ingest/envelope.js';
import { projectOfJob } from '../ingest/payloads.js';
import { type IngestJob, isIngestQueue } from '../ingest/queue.js';
import type { Shards } from '../platform/clickhouse/shards.js';
import { PublicError } from '../platform/errors.js';
import { type ProjectId, toProjectId } from '../platform/ids.js';
import type { Redis } from '../platform/redis/client.js';
import {
  type DeadLetterJob,
  describeDeadLetter,
  discardDeadLetter,
  replayDeadLetters,
  withQueue,
} from './dead-letter-jobs.js';
import { queuesOf } from './queues.js';

/** Queues whose jobs hold what a project has sent. */
const isOwned = (queue: string): boolean => isIngestQueue(queue) || queue === IDENTIFY_QUEUE;

/** The newest of each queue that are looked at. */
const LISTED_MAX = 50;
const REMEMBERED_MAX = 10_000;
/** Owner of a job of several projects, or of none. */
const SHARED = '';

export interface DeadLetter extends DeadLetterJob {
  /** Events or identify calls of the job; null for jobs of other kinds. */
  readonly events: number | null;
}

export type DeadLetterId = Pick<DeadLetterJob, 'queue' | 'id'>;

/** What the audit trail says about a dead letter. */
export interface Found {
  /** The only project of its events; undefined for a job of several, or of none. */
  readonly owner: ProjectId | undefined;
  readonly events: number | null;
}

export interface Caller {
  readonly projectId: ProjectId;
  /** Operators see, replay and discard the dead letters of all projects. */
  readonly isOperator: boolean;
}

export class DeadLetters {
  readonly #redis: Redis;
  readonly #shards: Pick<Shards, 'known'>;
  /** Project of each job, by queue and id. */
  readonly #owners = new LRUCache<string, string>({ max: REMEMBERED_MAX });

  constructor(redis: Redis, shards: Pick<Shards, 'known'>) {
    this.#redis = redis;
    this.#shards = shards;
  }

  #queuesFor(isOperator: boolean): readonly string[] {
    const names = queuesOf(this.#shards);
    return isOperator ? names : names.filter(isOwned);
  }

  /** Newest first, at most LISTED_MAX of each queue looked at. */
  async list({ projectId, isOperator }: Caller): Promise<DeadLetter[]> {
    const names = this.#queuesFor(isOperator);
    const found = await Promise.all(
      names.map((name) =>
        withQueue(this.#redis, name, async (queue) => {
          const jobs = await queue.getFailed(0, LISTED_MAX - 1);
          const shown: DeadLetter[] = [];
          for (const job of jobs) {
            if (isOperator || (await this.#ownerOf(queue, job)) === projectId) {
              shown.push({ ...describeDeadLetter(queue, job), events: eventsOf(queue, job) });
            }
          }
          return shown;
        }),
      ),
    );
    return found.flat().sort((a, b) => b.failedAt.localeCompare(a.failedAt));
  }

  /**
   * Lets the job run again, after `record` has resolved. Throws not_found for a job of others, as
   * for one that does not exist.
   */
  async replay(caller: Caller, job: DeadLetterId, record: (found: Found) => Promise<void>): Promise<void> {
    await this.#act(caller, job, async (queue, found) => {
      await record(found);
      await replayDeadLetters(this.#redis, queue, job.id);
    });
  }

  /** Deletes the job with its events, after `record` has resolved. Throws as `replay` does. */
  async discard(caller: Caller, job: DeadLetterId, record: (found: Found) => Promise<void>): Promise<void> {
    await this.#act(caller, job, async (queue, found) => {
      await record(found);
      await discardDeadLetter(this.#redis, queue, job.id);
    });
  }

  async #act(
    { projectId, isOperator }: Caller,
    { queue: name, id }: DeadLetterId,
    act: (queue: Queue, found: Found) => Promise<void>,
  ): Promise<void> {
    const missing = new PublicError('not_found', `the queue ${name} has no failed job ${id}`);
    if (!this.#queuesFor(isOperator).includes(name)) throw missing;
    await withQueue(this.#redis, name, async (queue) => {
      const job = (await queue.getJob(id)) as Job | undefined;
      if (job === undefined || !(await job.isFailed())) throw missing;
      const owner = isOwned(name) ? await this.#ownerOf(queue, job) : SHARED;
      if (!isOperator && owner !== projectId) throw missing;
      const found = { owner: owner === SHARED ? undefined : toProjectId(owner), events: eventsOf(queue, job) };
      await act(queue, found);
    });
  }

  async #ownerOf(queue: Queue, job: Job): Promise<string> {
    const key = `${queue.name} ${job.id}`;
    const known = this.#owners.get(key);
    if (known !== undefined) return known;
    const projects = await this.#projectsOf(queue, job);
    const [owner = SHARED, ...others] = projects;
    const decided = others.length === 0 ? owner : SHARED;
    this.#owners.set(key, decided);
    return decided;
  }

  async #projectsOf(queue: Queue, job: Job): Promise<string[]> {
    if (queue.name === IDENTIFY_QUEUE) {
      return [...new Set((job.data as IdentifyJob).operations.map(({ project }) => project))];
    }
    const alone = projectOfJob(job.id ?? '');
    if (alone !== undefined) return [alone];
    const bytes = await this.#redis.getBuffer((job.data as IngestJob).claim);
    return bytes === null ? [] : [...new Set(readable(bytes))];
  }
}

/** None for a payload that cannot be read: an operator has to look at it. */
function readable(bytes: Buffer): string[] {
  try {
    return decodeEnvelopes(bytes).map(({ header }) => header.p);
  } catch {
    return [];
  }
}

function eventsOf(queue: Queue, job: Job): number | null {
  if (queue.name === IDENTIFY_QUEUE) return (job.data as IdentifyJob).operations.length;
  return isOwned(queue.name) ? (job.data as IngestJob).events : null;
}
