// Back-pressure: above the high-water mark what clients send is refused with 429, before Redis runs out of memory.
import type { Queue } from 'bullmq';
import { PublicError } from '../platform/errors.js';
import type { Redis } from '../platform/redis/client.js';

const MEASURE_EVERY_MS = 500;

export interface Admission {
  /** Throws rate_limited while the backlog is above the mark. */
  admit(): void;
}

export interface BacklogLimits {
  /** Waiting or delayed. */
  readonly jobsMax: number;
  /** Of all of Redis. */
  readonly memoryBytesMax: number;
}

/** Measures at most twice a second, and only while requests come. */
export function createAdmission(queue: Pick<Queue, 'getJobCounts'>, redis: Redis, limits: BacklogLimits): Admission {
  let problem: string | undefined;
  let measuredAt = 0;

  async function measure(): Promise<void> {
    const [counts, memory] = await Promise.all([queue.getJobCounts('waiting', 'delayed'), usedMemory(redis)]);
    const jobs = (counts.waiting ?? 0) + (counts.delayed ?? 0);
    if (jobs > limits.jobsMax) problem = `${jobs} jobs are waiting to be stored; the limit is ${limits.jobsMax}`;
    else if (memory > limits.memoryBytesMax) problem = 'the queue has used up its memory';
    else problem = undefined;
  }

  return {
    admit() {
      if (Date.now() - measuredAt > MEASURE_EVERY_MS) {
        measuredAt = Date.now();
        // Redis that cannot be asked cannot store either: the commit of this request says so.
        measure().catch(() => {});
      }
      if (problem !== undefined) throw new PublicError('rate_limited', problem);
    },
  };
}

async function usedMemory(redis: Redis): Promise<number> {
  const match = /^used_memory:(\d+)/m.exec(await redis.info('memory'));
  return Number(match?.[1] ?? 0);
}
