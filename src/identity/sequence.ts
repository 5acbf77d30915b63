// Sequence numbers of identify calls and erasures: each gets one at acceptance, and the result
// equals applying all in this order. A number is listed as pending until its change is stored,
// which determines the low watermark.
import type { Redis } from '../platform/redis/client.js';
import { executed } from '../platform/redis/transaction.js';

const LAST = 'identity:sequence';
const PENDING = 'identity:pending';

// Numbers are at least the clock in microseconds, so that they keep rising when Redis has lost the
// last one. One script, so that taking a number and listing it as pending is atomic.
const TAKE = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local first = math.max((tonumber(redis.call('GET', KEYS[1])) or 0) + 1, now)
redis.call('SET', KEYS[1], string.format('%.0f', first + ARGV[1] - 1))
redis.call('ZADD', KEYS[2], 'NX', string.format('%.0f', first), ARGV[2])
return string.format('%.0f', first)
`;

/**
 * Takes `count` consecutive numbers for `member` (the id of a batch, or `erasure:<request id>`) and
 * resolves with the first. They are larger than all earlier numbers.
 */
export async function takeSequence(redis: Redis, taken: { member: string; count: number }): Promise<number> {
  return Number(await redis.eval(TAKE, 2, LAST, PENDING, taken.count, taken.member));
}

/** Removes members from the pending list: their changes are stored, or will never be. */
export async function releaseSequence(redis: Redis, ...members: readonly string[]): Promise<void> {
  await redis.zrem(PENDING, ...members);
}

/** The subset of members that is pending. */
export async function findPending(redis: Redis, members: readonly string[]): Promise<ReadonlySet<string>> {
  const scores = await redis.zmscore(PENDING, ...members);
  return new Set(members.filter((_, position) => scores[position] !== null));
}

/** Members that took their first number before `beforeMs`, epoch milliseconds. */
export const findPendingSince = (redis: Redis, beforeMs: number): Promise<string[]> =>
  redis.zrange(PENDING, '-inf', beforeMs * 1000, 'BYSCORE');

/**
 * Low watermark: the smallest pending number, or the next number when none is pending. Nothing
 * below it can arrive any more, except changes of the members in `except`.
 */
export async function lowWatermark(
  redis: Redis,
  { except = [] }: { except?: readonly string[] } = {},
): Promise<number> {
  const read = redis.multi().zrange(PENDING, 0, except.length, 'WITHSCORES').get(LAST).time();
  const [pending, last, [seconds, microseconds]] = (await executed(read)) as [
    string[],
    string | null,
    [seconds: string | number, microseconds: string | number],
  ];
  const excepted = new Set(except);
  for (let at = 0; at < pending.length; at += 2) {
    if (!excepted.has(pending[at] as string)) return Number(pending[at + 1]);
  }
  // The clock counts too: after Redis has lost the last number, waiting for the watermark must not
  // depend on the next call.
  return Math.max(Number(last ?? 0) + 1, Number(seconds) * 1_000_000 + Number(microseconds));
}
