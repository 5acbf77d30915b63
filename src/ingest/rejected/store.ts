// Store of rejected events in Redis, for customers whose events are missing: counts by project, day
// and reason, the newest samples of each project, and the fields of events that are ignored. All
// expire. They are hints: nothing is billed by them, and a process that crashes loses those it has
// not written yet.
import { PublicError } from '../../platform/errors.js';
import type { ProjectId } from '../../platform/ids.js';
import type { Redis } from '../../platform/redis/client.js';
import { executed } from '../../platform/redis/transaction.js';
import { DAY_MS, toDay } from '../../platform/utc-day.js';
import type { Rejected } from '../answers.js';
import { COUNTS_KEPT_MS, countedDays } from '../counted-days.js';
import { SKIP_REASONS, type SkipReason } from '../skip-reasons.js';
import { type IgnoringRoute, toHint } from './ignored-fields.js';
import { isNamedIn } from './sample.js';

export const SAMPLES_KEPT = 20;
export const FIELDS_KEPT = 50;
// All samples expire half a week after the newest one, and each write removes those older than half
// a week: no sample is kept for more than a week.
const SAMPLES_KEPT_MS = 3.5 * DAY_MS;

const countsKey = (day: string): string => `ingest:rejected:${day}`;
const countField = (projectId: string, reason: SkipReason): string => `${projectId}:${reason}`;
const ignoredKey = (projectId: string): string => `ingest:ignored-fields:${projectId}`;
/** Begins a member of that set for `/identify`; no name of a field begins with it (../body.ts). */
const OF_IDENTIFY = '\u0000';
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

/** An unknown field of an event, an identify call or a batch, as `ignored-fields.ts` names it. */
export interface IgnoredField {
  readonly projectId: ProjectId;
  readonly route: IgnoringRoute;
  readonly field: string;
  /** Milliseconds. */
  readonly at: number;
}

export interface RejectedNotes {
  readonly counts: readonly RejectedCount[];
  readonly samples: readonly RejectedSample[];
  readonly ignored: readonly IgnoredField[];
}

export async function saveRejected(redis: Redis, rejected: RejectedNotes, now: number): Promise<void> {
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
  for (const { projectId, route, field, at } of rejected.ignored) {
    transaction.zadd(ignoredKey(projectId), at, route === '/identify' ? `${OF_IDENTIFY}${field}` : field);
  }
  const keepNewest = (keys: readonly string[], kept: number) => {
    for (const key of new Set(keys)) {
      transaction.zremrangebyscore(key, '-inf', now - SAMPLES_KEPT_MS);
      transaction.zremrangebyrank(key, 0, -kept - 1);
      transaction.pexpire(key, SAMPLES_KEPT_MS);
    }
  };
  keepNewest(
    rejected.samples.map(({ projectId }) => samplesKey(projectId)),
    SAMPLES_KEPT,
  );
  keepNewest(
    rejected.ignored.map(({ projectId }) => ignoredKey(projectId)),
    FIELDS_KEPT,
  );
  await executed(transaction);
}

/** The newest first. */
export async function readRejected(redis: Redis, projectId: ProjectId, now: number): Promise<Rejected> {
  try {
    return {
      counts: await readCounts(redis, projectId, now),
      samples: await readSamples(redis, projectId),
      ignored_fields: await readIgnoredFields(redis, projectId),
    };
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
  return (await readNewest(redis, samplesKey(projectId))).map(({ member, at }) => {
    const { reason, event } = JSON.parse(member) as Pick<RejectedSample, 'reason' | 'event'>;
    return { at, reason, event };
  });
}

async function readIgnoredFields(redis: Redis, projectId: ProjectId): Promise<Rejected['ignored_fields']> {
  return (await readNewest(redis, ignoredKey(projectId))).map(({ member, at }) => {
    const route = member.startsWith(OF_IDENTIFY) ? '/identify' : '/track';
    const field = route === '/identify' ? member.slice(OF_IDENTIFY.length) : member;
    return { route, ...toHint(field, route), last_at: at };
  });
}

/** Members of a sorted set whose scores are times. */
async function readNewest(redis: Redis, key: string): Promise<{ member: string; at: Date }[]> {
  const found = await redis.zrevrange(key, 0, -1, 'WITHSCORES');
  return Array.from({ length: found.length / 2 }, (_, index) => {
    return { member: found[2 * index] ?? '', at: new Date(Number(found[2 * index + 1])) };
  });
}

/**
 * Deletes the samples and ignored fields that contain one of the ids. Others may match too; that is
 * accepted, because they are hints.
 */
export async function forgetSamplesOf(redis: Redis, projectId: ProjectId, ids: readonly string[]): Promise<void> {
  const key = samplesKey(projectId);
  const samples = await redis.zrange(key, 0, -1);
  const named = samples.filter((sample) => {
    const { event } = JSON.parse(sample) as Pick<RejectedSample, 'event'>;
    return ids.some((id) => isNamedIn(event, id));
  });
  if (named.length > 0) await redis.zrem(key, ...named);
  const fields = await redis.zrange(ignoredKey(projectId), 0, -1);
  const namedFields = fields.filter((field) => ids.some((id) => field.includes(id)));
  if (namedFields.length > 0) await redis.zrem(ignoredKey(projectId), ...namedFields);
}

/** Removes counts, samples and ignored fields of a deleted project. */
export async function forgetRejected(redis: Redis, projectId: ProjectId, now: number): Promise<void> {
  const fields = SKIP_REASONS.map((reason) => countField(projectId, reason));
  const transaction = redis.multi().unlink(samplesKey(projectId), ignoredKey(projectId));
  for (const day of countedDays(now)) transaction.hdel(countsKey(day), ...fields);
  await executed(transaction);
}
