// Runs a scheduled job of the workers at once, as its schedule does, so that no test waits for the
// next run.
import { createRedis } from '../../src/platform/redis/client.js';
import { openQueueToRead } from '../../src/platform/redis/open-queue.js';
import type { TestDatabases } from './stack.js';

/** Throws when no worker has set up the schedule. */
export async function runScheduled(
  { config }: TestDatabases,
  job: { readonly queue: string; readonly schedule: string; readonly everyMs: number },
): Promise<void> {
  const redis = createRedis(config);
  const queue = openQueueToRead(job.queue, redis);
  try {
    const scheduler = await queue.getJobScheduler(job.schedule);
    if (Number(scheduler?.every) !== job.everyMs) {
      throw new Error(`${job.queue} has no schedule ${job.schedule} every ${job.everyMs} ms`);
    }
    await queue.add(job.schedule, undefined, { removeOnComplete: true, removeOnFail: true });
  } finally {
    await queue.close();
    redis.disconnect();
  }
}
