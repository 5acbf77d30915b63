// The job of a queue that has waited longest. In fair order the head need not be the oldest: a job
// of an owner with a large backlog waits behind younger ones of others. Jobs with equal tags are in
// order of arrival, so the oldest is the first of its tag; tags are few, because each stands for
// several megabytes. Reading every job would block Redis for tens of milliseconds.
import type { Queue } from 'bullmq';
import type { Redis } from './client.js';
import { SCORE_PER_TAG } from './fair-order.js';

/** `wait` is a list whose last job is the first in, and `prioritized` is ordered by tag. */
const OLDEST = `
local oldest = nil
local function look(id)
  local at = id and tonumber(redis.call('HGET', ARGV[1] .. id, 'timestamp'))
  if at and (oldest == nil or at < oldest) then oldest = at end
end
look(redis.call('LINDEX', KEYS[1], -1))
local from = 0
while true do
  local first = redis.call('ZRANGE', KEYS[2], string.format('%.0f', from), '+inf', 'BYSCORE', 'LIMIT', 0, 1, 'WITHSCORES')
  if first[1] == nil then return oldest end
  look(first[1])
  from = (math.floor(tonumber(first[2]) / ARGV[2]) + 1) * ARGV[2]
end`;

/** How long, in milliseconds; undefined when no job waits. */
export async function readOldestWaitMs(redis: Redis, queue: Pick<Queue, 'toKey'>): Promise<number | undefined> {
  const keys = [queue.toKey('wait'), queue.toKey('prioritized')];
  const addedMs = await redis.eval(OLDEST, keys.length, ...keys, queue.toKey(''), SCORE_PER_TAG);
  return typeof addedMs === 'number' ? Math.max(0, Date.now() - addedMs) : undefined;
}
