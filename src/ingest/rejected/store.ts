// Store of rejected events in Redis, for customers whose events are missing: counts by project, day
// and reason, and the newest samples of each project. Both expire. They are hints: nothing is
// billed by them, and a process that crashes loses those it has not written yet.
import { PublicError } from '../../platform/errors.js';
import type { ProjectId } from '../../platform/ids.js';
import type { Redis } from '../../platform/redis/client.js';
import { executed } from '../../platform/redis/transaction.js';
import { toDay } from '../../usage/range.js';
import { COUNTS_KEPT_MS, countedDays } from '../counted-days.js';
import { SKIP_REASONS, type SkipReason } from '../schema.js';
import { isNamedIn } from './sample.js';

export const SAMPLES_KEPT = 20;
const DAY_MS = 24 * 60 * 60_000;
// All samples expire half a week after the newest one, and each write removes those older than half
// a week: no sample is kept for more than a week.
const SAMPLES_KEPT_MS = 3.5 * DAY_MS;

const countsKey = (day: string): string => `ingest:rejected:${day}`;
const countField = (projectId: string, reason: SkipReason): string => `${projectId}:${reason}`;
const samplesKey = (projectId: string): string => `ingest:rejected-samples:${projectId}`;

export interface RejectedCount {
  readonly projectId: ProjectId;
  readonly reason: SkipReason;
  readonly events: number;
}

export interface RejectedSample {
  readonly projectId: ProjectId;
  readonly reason: SkipReason;
  /** Milliseconds. */
  readonly at: number;
  readonly event: string;
}

export async function saveRejected(
  redis: Redis,
  rejected: { counts: readonly RejectedCount[]; samples: readonly RejectedSample[] },
  now: number,
): Promise<void> {
  const transaction = redis.multi();
  const day = countsKey(toDay(new Date(now)));
  for (const { projectId, reason, events } of rejected.counts) {
    transaction.hincrby(day, countField(projectId, reason), events);
  }
  transaction.pexpire(day, COUNTS_KEPT_MS);
  for (const { projectId, reason, at, event } of rejected.samples) {
    // Equal samples are stored once, with their latest time.
    transaction.zadd(samplesKey(projectId), at, JSON.stringify({ reason, event }));
  }
  for (const key of new Set(rejected.samples.map(({ projectId }) => samplesKey(projectId)))) {
    transaction.zremrangebyscore(key, '-inf', now - SAMPLES_KEPT_MS);
    transaction.zremrangebyrank(key, 0, -SAMPLES_KEPT - 1);
    transaction.pexpire(key, SAMPLES_KEPT_MS);
  }
  await executed(transaction);
}

/** The response of the API, newest first. */
export interface Rejected {
  readonly counts: readonly { readonly date: string; readonly reason: SkipReason; readonly events: number }[];
  readonly samples: readonly { readonly at: string; readonly reason: SkipReason; readonly event: string }[];
}

export async function readRejected(redis: Redis, projectId: ProjectId, now: number): Promise<Rejected> {
  try {
    return { counts: await readCounts(redis, projectId, now), samples: await readSamples(redis, projectId) };
  } catch (cause) {
    throw new PublicError('unavailable', 'rejected events cannot be read right now; try again', { cause });
  }
}

async function readCounts(redis: Redis, projectId: ProjectId, now: number): Promise<Rejected['counts']> {
  const fields = SKIP_REASONS.map((reason) => countField(projectId, reason));
  const days = countedDays(now).map(async (date) => {
    const counts = await redis.hmget(countsKey(date), ...fields);
    return SKIP_REASONS.map((reason, index) => ({ date, reason, events: Number(counts[index] ?? 0) }));
  });
  return (await Promise.all(days)).flat().filter(({ events }) => events > 0);
}

/** The samples that are kept, newest first. */
export async function readSamples(redis: Redis, projectId: ProjectId): Promise<Rejected['samples']> {
  const found = await redis.zrevrange(samplesKey(projectId), 0, -1, 'WITHSCORES');
  return Array.from({ length: found.length / 2 }, (_, index) => {
    const { reason, event } = JSON.parse(found[2 * index] ?? '') as Pick<RejectedSample, 'reason' | 'event'>;
    return { at: new Date(Number(found[2 * index + 1])).toISOString(), reason, event };
  });
}

/**
 * Deletes the samples that contain one of the ids. Other samples may match too; that is accepted,
 * because samples are hints.
 */
export async function forgetSamplesOf(redis: Redis, projectId: ProjectId, ids: readonly string[]): Promise<void> {
  const key = samplesKey(projectId);
  const samples = await redis.zrange(key, 0, -1);
  const named = samples.filter((sample) => {
    const { event } = JSON.parse(sample) as Pick<RejectedSample, 'event'>;
    return ids.some((id) => isNamedIn(event, id));
  });
  if (named.length > 0) await redis.zrem(key, ...named);
}

/** Removes counts and samples of a deleted project. */
export async function forgetRejected(redis: Redis, projectId: ProjectId, now: number): Promise<void> {
  const fields = SKIP_REASONS.map((reason) => countField(projectId, reason));
  const transaction = redis.multi().unlink(samplesKey(projectId));
  for (const day of countedDays(now)) transaction.hdel(countsKey(day), ...fields);
  await executed(transaction);
}
