// The export queue. A job only calls a worker to a channel: whose events are wanted is said there, so that Redis never keeps it.
import type { Queue } from 'bullmq';
import type { Redis } from '../platform/redis/client.js';
import { openQueue } from '../platform/redis/open-queue.js';

export const EXPORT_QUEUE = 'export';

export interface ExportJob {
  readonly version: 1;
  /** The channel on which somebody waits. */
  readonly channel: string;
}

const EVENT_STREAM_LENGTH = 100;

export type ExportQueue = Queue<ExportJob, void, 'export'>;

export function createExportQueue(redis: Redis): ExportQueue {
  return openQueue<ExportJob, void, 'export'>(EXPORT_QUEUE, {
    connection: redis,
    streams: { events: { maxLen: EVENT_STREAM_LENGTH } },
    skipMetasUpdate: true,
    // What failed has broken a connection, and is asked for again by whoever wants it: there is nothing to repeat or to keep.
    defaultJobOptions: { attempts: 1, removeOnComplete: true, removeOnFail: true },
  });
}

export async function enqueueExport(queue: ExportQueue, channel: string): Promise<void> {
  await queue.add('export', { version: 1, channel }, { jobId: channel });
}

/** Nobody waits any more: a worker that has taken it already notices by itself. */
export async function forgetExport(queue: ExportQueue, channel: string): Promise<void> {
  await queue.remove(channel);
}
