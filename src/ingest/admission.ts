// Back-pressure: above the high-water mark what clients send is refused with 429, before Redis runs out of memory.
import type { Queue } from 'bullmq';
import { PublicError } from '../platform/errors.js';
import type { Redis } from '../platform/redis/client.js';
import { firstTimesBytes } from './first-times.js';

const MEASURE_EVERY_MS = 500;

export interface Admission {
  /** Throws rate_limited while the backlog is above a mark. */
  admit(): void;
  /** The same for a job, which `add` adds: it is counted from now on. */
  addJob(bytes: number, add: () => Promise<void>): Promise<void>;
}

export interface BacklogLimits {
  /** Waiting or delayed. */
  readonly jobsMax: number;
  /** Of all of Redis but first times, which have a bound of their own. */
  readonly memoryBytesMax: number;
}

interface Backlog {
  readonly jobs: number;
  readonly bytes: number;
}

const NOTHING: Backlog = { jobs: 0, bytes: 0 };
const sum = (one: Backlog, other: Backlog): Backlog => ({
  jobs: one.jobs + other.jobs,
  bytes: one.bytes + other.bytes,
});

/**
 * Measures at most twice a second, and only while requests come or are refused. What this process adds is counted on top of what was measured until
 * the next measurement has seen it, so that one process goes beyond a mark by a single job, and each of several by what the others
 * add in half a second.
 */
export function createAdmission(
  queue: Pick<Queue, 'getJobCountByTypes'>,
  redis: Redis,
  limits: BacklogLimits,
): Admission {
  let measured = NOTHING;
  /** Since the process started: what it has begun to add, and what of it was there for certain when the measurement began. */
  let added = NOTHING;
  let addedBefore = NOTHING;
  let settled = NOTHING;
  let measuredAt = 0;

  async function measure(): Promise<void> {
    const settledBefore = settled;
    const [jobs, used, firstTimes] = await Promise.all([
      queue.getJobCountByTypes('waiting', 'delayed'),
      usedMemory(redis),
      firstTimesBytes(redis),
    ]);
    measured = { jobs, bytes: used - firstTimes };
    addedBefore = settledBefore;
  }

  function measureWhenDue(): void {
    if (Date.now() - measuredAt < MEASURE_EVERY_MS) return;
    measuredAt = Date.now();
    // Redis that cannot be asked cannot store either: the commit of this request says so.
    void measure()
      .catch(() => {})
      .then(() => {
        // Who comes back after a minute must not be refused for what was true a minute ago.
        if (findProblem() !== undefined) setTimeout(measureWhenDue, MEASURE_EVERY_MS).unref();
      });
  }

  function findProblem(): string | undefined {
    const jobs = measured.jobs + added.jobs - addedBefore.jobs;
    if (jobs > limits.jobsMax) return `${jobs} jobs are waiting to be stored; the limit is ${limits.jobsMax}`;
    const bytes = measured.bytes + added.bytes - addedBefore.bytes;
    return bytes > limits.memoryBytesMax ? 'the queue has used up its memory' : undefined;
  }

  function requireRoom(): void {
    const problem = findProblem();
    if (problem !== undefined) throw new PublicError('rate_limited', problem);
  }

  return {
    admit() {
      measureWhenDue();
      requireRoom();
    },
    async addJob(bytes, add) {
      requireRoom();
      const job = { jobs: 1, bytes };
      added = sum(added, job);
      try {
        await add();
      } finally {
        settled = sum(settled, job);
      }
    },
  };
}

async function usedMemory(redis: Redis): Promise<number> {
  const match = /^used_memory:(\d+)/m.exec(await redis.info('memory'));
  return Number(match?.[1] ?? 0);
}
