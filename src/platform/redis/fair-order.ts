// Fair order of a BullMQ queue whose jobs each belong to one owner: start-time fair queueing by
// priority. The start tag of a job is the virtual time (the tag at the head of the queue) plus the
// backlog of its owner, so that a job waits for the backlog of its own owner and for equal shares
// of the others. Tags rise with the virtual time: no job starves.
import type { Queue } from 'bullmq';
import type { ChainableCommander } from 'ioredis';

// The largest priority that BullMQ accepts. Tags restart at zero whenever the queue is empty; a
// queue that is not empty for this many units becomes first in, first out.
const TAG_MAX = 2 ** 21 - 1;
/** BullMQ's score of a job is its priority in the high 32 bits, and a counter in the low ones. */
export const SCORE_PER_TAG = 2 ** 32;

type Head = Pick<Queue, 'toKey'>;

/** Adds to a transaction the command whose reply `startTag` reads. */
export const readHead = (transaction: ChainableCommander, queue: Head): ChainableCommander =>
  transaction.zrange(queue.toKey('prioritized'), 0, 0, 'WITHSCORES');

/** The priority of a job whose owner has a backlog of so many units. */
export function startTag(head: unknown, backlogUnits: number): number {
  const score = Array.isArray(head) ? Number(head[1] ?? 0) : 0;
  const virtualTime = Math.floor(score / SCORE_PER_TAG);
  return Math.min(TAG_MAX, Math.max(1, virtualTime + Math.floor(backlogUnits)));
}
