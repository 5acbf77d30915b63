// Opens BullMQ queues. The owner of the connection logs its errors; the listener here keeps BullMQ from printing each error
// again per queue.
import { Queue, type QueueOptions } from 'bullmq';

export function openQueue<Data, Result, Name extends string>(
  name: string,
  options: QueueOptions,
): Queue<Data, Result, Name> {
  const queue = new Queue<Data, Result, Name>(name, options);
  queue.on('error', () => {});
  return queue;
}
