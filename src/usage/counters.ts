// Usage counters in Redis: one hash per day (UTC). The rollup copies totals, not differences, so it
// can be repeated.
//
// Accepted events are counted in the transaction that stores them, so every acknowledged event is
// counted. A request that fails after that transaction is counted too. A Redis that loses its data
// loses the counts since the last rollup, together with the events that were queued.
import type { ChainableCommander } from 'ioredis';
import type { Redis } from '../platform/redis/client.js';
import { executed } from '../platform/redis/transaction.js';
import { DAY_MS, toDay } from '../platform/utc-day.js';

const keyOf = (day: string): string => `usage:${day}`;

export interface AcceptedEvents {
  readonly projectId: string;
  readonly events: number;
  /** Time of acceptance, epoch milliseconds. */
  readonly at: number;
}

/**
 * Adds the commands to a transaction, one per project and day. Counts change when the transaction
 * is executed.
 */
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

/** Rejects when Redis fails. Callers answer the query anyway and decide whether to log that. */
export async function countQuery(redis: Redis, projectId: string, now: number): Promise<void> {
  await redis.hincrby(keyOf(toDay(new Date(now))), `${projectId}:queries`, 1);
}

export interface DayCount {
  readonly projectId: string;
  readonly events: number;
  readonly queries: number;
}

export interface DayCounts {
  /** Epoch milliseconds; another value than before when Redis has lost the counts in between. */
  readonly since: number;
  readonly counts: readonly DayCount[];
}

/** Field of the hash with the time at which its counts were first read. */
const SINCE = 'since';

export async function readCounts(redis: Redis, day: string): Promise<DayCounts> {
  const key = keyOf(day);
  if ((await redis.exists(key)) === 0) return { since: 0, counts: [] };
  const [, fields] = await executed(redis.multi().hsetnx(key, SINCE, Date.now()).hgetall(key));
  const { [SINCE]: since, ...values } = fields as Record<string, string>;
  const counts = new Map<string, { events: number; queries: number }>();
  for (const [field, value] of Object.entries(values)) {
    const [projectId = '', kind] = field.split(':');
    const count = counts.get(projectId) ?? { events: 0, queries: 0 };
    counts.set(projectId, { ...count, [kind === 'events' ? 'events' : 'queries']: Number(value) });
  }
  return { since: Number(since), counts: [...counts].map(([projectId, count]) => ({ projectId, ...count })) };
}

export async function forgetCounts(redis: Redis, day: string): Promise<void> {
  await redis.unlink(keyOf(day));
}
