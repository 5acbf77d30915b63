// Queue of demo projects to load: at most one job for each organization, because its id is that of
// the organization. A failed job is kept for a day, so that the console can say why.
import type { Queue } from 'bullmq';
import type { OrganizationId } from '../platform/ids.js';
import type { Redis } from '../platform/redis/client.js';
import { openQueue } from '../platform/redis/open-queue.js';
import type { DemoProgress } from './send-shop.js';

export const DEMO_QUEUE = 'demo';

export interface DemoJob {
  readonly version: 1;
  readonly organizationId: OrganizationId;
  /** Who asked for it. */
  readonly personId: string;
  /** Where the worker reaches the service: a setting of the operator. */
  readonly url: string;
  /** By the clock of PostgreSQL. Missing in jobs queued before December 2026. */
  readonly askedAtMs?: number;
}

export type DemoQueue = Queue<DemoJob, void, 'load'>;

const DAY_SECONDS = 86_400;

/** A stopping worker returns its job, and the next one begins again. */
export const createDemoQueue = (redis: Redis): DemoQueue =>
  openQueue(DEMO_QUEUE, redis, {
    attempts: 3,
    backoff: { type: 'fixed', delay: 1000 },
    removeOnComplete: true,
    removeOnFail: { age: DAY_SECONDS },
  });

/** Does nothing while a job of the organization waits or runs. A failed one is replaced. */
export async function enqueueDemo(queue: DemoQueue, job: DemoJob): Promise<void> {
  const before = await queue.getJob(job.organizationId);
  if (before !== undefined && (await before.isFailed())) await before.remove();
  await queue.add('load', job, { jobId: job.organizationId });
}

export interface DemoJobState {
  readonly status: 'waiting' | 'loading' | 'failed';
  readonly progress: DemoProgress;
  readonly error: string | null;
}

const NO_PROGRESS: DemoProgress = { events: 0, users: 0, share: 0 };

/** Undefined when the organization has no job. */
export async function findDemoJob(queue: DemoQueue, organizationId: OrganizationId): Promise<DemoJobState | undefined> {
  // The state first: a job that fails between the two reads is then read with its reason.
  const state = await queue.getJobState(organizationId);
  const job = await queue.getJob(organizationId);
  // A completed job is removed.
  if (job === undefined || state === 'unknown' || state === 'completed') return undefined;
  const progress = typeof job.progress === 'object' ? (job.progress as DemoProgress) : NO_PROGRESS;
  if (state === 'failed') return { status: 'failed', progress, error: job.failedReason ?? '' };
  return { status: state === 'active' ? 'loading' : 'waiting', progress, error: null };
}
