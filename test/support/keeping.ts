// The night of keeping in tests: its job runs now instead of after midnight.
import { setTimeout as delay } from 'node:timers/promises';
import { KEEPING_QUEUE } from '../../src/keeping/queue.js';
import type { Postgres } from '../../src/platform/postgres/client.js';
import type { Redis } from '../../src/platform/redis/client.js';
import { openQueue } from '../../src/platform/redis/open-queue.js';

export const DAY_MS = 86_400_000;
const ENOUGH_MS = 2 * 60_000;

/** The start of the day in UTC, epoch milliseconds; of the next one when this one ends too soon. */
export async function startOfToday(): Promise<number> {
  const leftMs = DAY_MS - (Date.now() % DAY_MS);
  if (leftMs < ENOUGH_MS) await delay(leftMs + 1);
  return Math.floor(Date.now() / DAY_MS) * DAY_MS;
}

/** As if the definitions had been stored before midnight, and this day had not been done. */
export async function beNextNight(postgres: Postgres, projectId: string): Promise<void> {
  const of = { project_id: projectId };
  await postgres('definitions')
    .where(of)
    .update({ keep_since: new Date(Date.now() - DAY_MS) });
  await postgres('keep_receipts').where(of).delete();
}

/** Runs the job of the worker; the receipt says when it is done. */
export async function startNight(stack: { postgres: Postgres; redis: Redis }, projectId: string): Promise<void> {
  await beNextNight(stack.postgres, projectId);
  await startKeeping(stack);
}

/** As it runs every few minutes. */
export async function startKeeping(stack: { redis: Redis }): Promise<void> {
  const queue = openQueue(KEEPING_QUEUE, stack.redis);
  await queue.add('now', {}, { removeOnComplete: true, removeOnFail: true });
  await queue.close();
}
