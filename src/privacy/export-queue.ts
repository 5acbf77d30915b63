// Export queue. A job only carries the name of a channel; the person is sent over the channel, so
// that Redis never stores the user id.
import type { Queue } from 'bullmq';
import type { Redis } from '../platform/redis/client.js';
import { openQueue } from '../platform/redis/open-queue.js';

export const EXPORT_QUEUE = 'export';

export interface ExportJob {
  readonly version: 1;
  /** The channel on which the web process waits. */
  readonly channel: string;
}

export type ExportQueue = Queue<ExportJob, void, 'export'>;

/**
 * A failed export has broken its connection, and the client requests it again, so no job is retried
 * or kept.
 */
export const createExportQueue = (redis: Redis): ExportQueue =>
  openQueue(EXPORT_QUEUE, redis, { attempts: 1, removeOnComplete: true, removeOnFail: true });

export async function enqueueExport(queue: ExportQueue, channel: string): Promise<void> {
  await queue.add('export', { version: 1, channel }, { jobId: channel });
}

/**
 * Removes a job whose web process no longer waits. A worker that has already started it notices by
 * itself.
 */
export async function forgetExport(queue: ExportQueue, channel: string): Promise<void> {
  await queue.remove(channel);
}
