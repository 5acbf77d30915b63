// Usage as it happens, in Redis: a hash for each day (UTC), counted up where the thing itself is stored. The rollup copies
// the totals of a day, never differences, so copying them twice is the same as once.
//
// Accepted events are counted in the transaction that stores them: what was answered is counted, always. A request that
// failed between storing and answering is counted as well, though its events may be gone. A Redis that lost its memory
// has lost the counts of the day since the last copy, as it has lost the events that were waiting.
import type { ChainableCommander } from 'ioredis';
import type { Redis } from '../platform/redis/client.js';
import { toDay } from './range.js';

const DAY_MS = 24 * 60 * 60_000;
const keyOf = (day: string): string => `usage:${day}`;

export interface AcceptedEvents {
  readonly projectId: string;
  readonly events: number;
  /** When they were accepted, in milliseconds. */
  readonly at: number;
}

/** Adds to a transaction, one command per project and day; nothing is counted before it is executed. */
export function countAccepted(transaction: ChainableCommander, accepted: readonly AcceptedEvents[]): void {
  const sums = new Map<string, AcceptedEvents>();
  for (const one of accepted) {
    const key = `${Math.floor(one.at / DAY_MS)} ${one.projectId}`;
    sums.set(key, { ...one, events: one.events + (sums.get(key)?.events ?? 0) });
  }
  for (const { projectId, events, at } of sums.values()) {
    transaction.hincrby(keyOf(toDay(new Date(at))), `${projectId}:events`, events);
  }
}

/** A query that cannot be counted is answered all the same: the caller decides what to say about a rejection. */
export async function countQuery(redis: Redis, projectId: string, now: number): Promise<void> {
  await redis.hincrby(keyOf(toDay(new Date(now))), `${projectId}:queries`, 1);
}

export interface DayCount {
  readonly projectId: string;
  readonly events: number;
  readonly queries: number;
}

export async function readCounts(redis: Redis, day: string): Promise<DayCount[]> {
  const counts = new Map<string, { events: number; queries: number }>();
  for (const [field, value] of Object.entries(await redis.hgetall(keyOf(day)))) {
    const [projectId = '', kind] = field.split(':');
    const count = counts.get(projectId) ?? { events: 0, queries: 0 };
    counts.set(projectId, { ...count, [kind === 'events' ? 'events' : 'queries']: Number(value) });
  }
  return [...counts].map(([projectId, count]) => ({ projectId, ...count }));
}

export async function forgetCounts(redis: Redis, day: string): Promise<void> {
  await redis.unlink(keyOf(day));
}
