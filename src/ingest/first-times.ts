// A client that sends insert ids without times and retries must land on the same row: the first accepted time of
// (project, insert id) is remembered for a day.
import type { Redis } from '../platform/redis/client.js';

export const REMEMBERED_SECONDS = 24 * 60 * 60;
const PREFIX = 'ingest:first:';

/**
 * For each id the time of its first acceptance, `now` when this is the first. Each id is settled by one atomic SET, so two
 * requests at once agree.
 */
export async function settleFirstTimes(
  redis: Redis,
  request: { projectId: string; insertIds: readonly string[]; now: number },
): Promise<number[]> {
  const pipeline = redis.pipeline();
  for (const id of request.insertIds) {
    const key = `${PREFIX}${request.projectId}:${id}`;
    pipeline.set(key, request.now, 'EX', REMEMBERED_SECONDS, 'NX');
    pipeline.get(key);
  }
  const replies = (await pipeline.exec()) ?? [];
  return request.insertIds.map((_, position) => {
    const [error, time] = replies[position * 2 + 1] ?? [new Error('redis gave no answer')];
    if (error) throw error;
    return Number(time ?? request.now);
  });
}

const KEYS_PER_COMMAND = 1000;

/** Nothing of these events is remembered any more. */
export async function forgetFirstTimes(
  redis: Redis,
  events: readonly { readonly projectId: string; readonly insertId: string }[],
): Promise<void> {
  for (let at = 0; at < events.length; at += KEYS_PER_COMMAND) {
    const some = events.slice(at, at + KEYS_PER_COMMAND);
    await redis.unlink(some.map(({ projectId, insertId }) => `${PREFIX}${projectId}:${insertId}`));
  }
}
