// Counts of dropped events in Redis, by project, day and rule, for 30 days. They are buffered in
// memory and written once a second.
import { PublicError } from '../../platform/errors.js';
import { DelayedWrite } from '../../platform/flow/delayed-write.js';
import type { ProjectId } from '../../platform/ids.js';
import type { Logger } from '../../platform/log.js';
import type { Redis } from '../../platform/redis/client.js';
import { executed } from '../../platform/redis/transaction.js';
import { toDay } from '../../platform/utc-day.js';
import { COUNTS_KEPT_MS, countedDays } from '../counted-days.js';
import type { Dropped } from './rules.js';

const WRITE_EVERY_MS = 1000;

const countsKey = (projectId: string, day: string): string => `ingest:dropped:${projectId}:${day}`;

export class DroppedEvents {
  readonly #redis: Redis;
  readonly #log: Logger;
  #counts = new Map<ProjectId, Map<string, number>>();
  readonly #delayed = new DelayedWrite(WRITE_EVERY_MS, () => this.#write());

  constructor(redis: Redis, log: Logger) {
    this.#redis = redis;
    this.#log = log;
  }

  note(projectId: ProjectId, dropped: Dropped): void {
    if (dropped.size === 0) return;
    const counts = this.#counts.get(projectId) ?? new Map<string, number>();
    for (const [rule, events] of dropped) counts.set(rule, events + (counts.get(rule) ?? 0));
    this.#counts.set(projectId, counts);
    this.#delayed.schedule();
  }

  /** Resolves when everything noted has been written, or the write has failed. */
  close(): Promise<void> {
    return this.#delayed.close();
  }

  async #write(): Promise<void> {
    const counts = this.#counts;
    this.#counts = new Map();
    await saveDropped(this.#redis, counts, Date.now()).catch((err: unknown) =>
      this.#log.warn({ err }, 'dropped events were not counted'),
    );
  }
}

/** Adds to the counts of the day of `now`. */
async function saveDropped(redis: Redis, counts: ReadonlyMap<ProjectId, Dropped>, now: number): Promise<void> {
  const transaction = redis.multi();
  const day = toDay(new Date(now));
  for (const [projectId, dropped] of counts) {
    const key = countsKey(projectId, day);
    for (const [rule, events] of dropped) transaction.hincrby(key, rule, events);
    transaction.pexpire(key, COUNTS_KEPT_MS);
  }
  await executed(transaction);
}

/** Days with dropped events, newest first. */
export interface DroppedDay {
  /** YYYY-MM-DD, UTC. */
  readonly date: string;
  readonly events: number;
}

/**
 * The last 30 days by the key of the rule, also of rules that exist no more. Throws unavailable
 * without Redis.
 */
export async function readDropped(
  redis: Redis,
  projectId: ProjectId,
  now: number,
): Promise<ReadonlyMap<string, readonly DroppedDay[]>> {
  const byRule = new Map<string, DroppedDay[]>();
  for (const [date, counts] of await readDays(redis, projectId, now)) {
    for (const [rule, events] of Object.entries(counts)) {
      const days = byRule.get(rule) ?? [];
      days.push({ date, events: Number(events) });
      byRule.set(rule, days);
    }
  }
  return byRule;
}

async function readDays(
  redis: Redis,
  projectId: ProjectId,
  now: number,
): Promise<readonly (readonly [string, Record<string, string>])[]> {
  try {
    return await Promise.all(
      countedDays(now).map(async (date) => [date, await redis.hgetall(countsKey(projectId, date))] as const),
    );
  } catch (cause) {
    throw new PublicError('unavailable', 'dropped events cannot be read right now; try again', { cause });
  }
}

/** Removes the counts of a deleted project. */
export async function forgetDropped(redis: Redis, projectId: ProjectId, now: number): Promise<void> {
  await redis.unlink(...countedDays(now).map((day) => countsKey(projectId, day)));
}
