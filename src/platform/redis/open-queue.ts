// Opens BullMQ queues. The owner of the connection logs its errors; the listener here keeps BullMQ
// from printing each error again per queue.
import { type DefaultJobOptions, Queue, type QueueOptions } from 'bullmq';
import type { Redis } from './client.js';

/** Events are for dashboards of BullMQ: their stream must not grow with the traffic. */
const EVENT_STREAM_LENGTH = 100;

export const openQueue = <Data, Name extends string>(
  name: string,
  redis: Redis,
  defaultJobOptions: DefaultJobOptions = {},
): Queue<Data, void, Name> =>
  silenced(name, { connection: redis, streams: { events: { maxLen: EVENT_STREAM_LENGTH } }, defaultJobOptions });

/**
 * For commands and metrics: does not write the settings of the queue, and prints no line about the
 * settings of Redis, of which web and the doctor warn.
 */
export const openQueueToRead = (name: string, redis: Redis): Queue =>
  silenced(name, { connection: redis, skipMetasUpdate: true, skipVersionCheck: true });

function silenced<Data, Name extends string>(name: string, options: QueueOptions): Queue<Data, void, Name> {
  const queue = new Queue<Data, void, Name>(name, options);
  queue.on('error', () => {});
  return queue;
}
