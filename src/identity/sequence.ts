// The order of everything that concerns who is who: each change takes a number when it is accepted, and is applied as if
// all had been applied in the order of their numbers. Whoever took one stands in the list of the pending until the change
// is stored, so that it can be said up to where nothing may arrive any more.
import type { Redis } from '../platform/redis/client.js';

const LAST = 'identity:sequence';
const PENDING = 'identity:pending';

// A number is at least the clock in microseconds: they go on rising when Redis has lost the last of them. One script, so
// that nobody sees the numbers taken and their taker not yet pending.
const TAKE = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local first = math.max((tonumber(redis.call('GET', KEYS[1])) or 0) + 1, now)
redis.call('SET', KEYS[1], string.format('%.0f', first + ARGV[1] - 1))
redis.call('ZADD', KEYS[2], 'NX', string.format('%.0f', first), ARGV[2])
return string.format('%.0f', first)
`;

/**
 * Takes `count` numbers in a row for `member` (the id of a batch, or `erasure:<request id>`), and resolves with the first.
 * They are larger than all taken before.
 */
export async function takeSequence(redis: Redis, taken: { member: string; count: number }): Promise<number> {
  return Number(await redis.eval(TAKE, 2, LAST, PENDING, taken.count, taken.member));
}

/** Says that what `members` took numbers for is stored, or will never be. */
export async function releaseSequence(redis: Redis, ...members: readonly string[]): Promise<void> {
  await redis.zrem(PENDING, ...members);
}

/** Which of the members are pending. */
export async function findPending(redis: Redis, members: readonly string[]): Promise<ReadonlySet<string>> {
  const scores = await redis.zmscore(PENDING, ...members);
  return new Set(members.filter((_, position) => scores[position] !== null));
}

/** Those that took their first number before a moment, in milliseconds. */
export const findPendingSince = (redis: Redis, beforeMs: number): Promise<string[]> =>
  redis.zrange(PENDING, '-inf', beforeMs * 1000, 'BYSCORE');

/**
 * Nothing with a smaller number can arrive any more, but for what `except` brings: the smallest number that is pending,
 * or the next to be taken.
 */
export async function lowWatermark(
  redis: Redis,
  { except = [] }: { except?: readonly string[] } = {},
): Promise<number> {
  const replies = await redis.multi().zrange(PENDING, 0, except.length, 'WITHSCORES').get(LAST).time().exec();
  if (replies === null) throw new Error('redis dropped the transaction');
  const [pending, last, [seconds, microseconds]] = replies.map(([error, reply]) => {
    if (error) throw error;
    return reply;
  }) as [string[], string | null, [seconds: string | number, microseconds: string | number]];
  for (let at = 0; at < pending.length; at += 2) {
    if (!except.includes(pending[at] as string)) return Number(pending[at + 1]);
  }
  // The clock as well: a Redis that has lost the last number would hold up who waits for it until the next one is taken.
  return Math.max(Number(last ?? 0) + 1, Number(seconds) * 1_000_000 + Number(microseconds));
}
