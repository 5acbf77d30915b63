// The one way every process reaches a queue. Whoever owns the connection logs its errors; without a listener, BullMQ prints
// each once more for every queue, and not as a line of our log.
import { Queue, type QueueOptions } from 'bullmq';

export function openQueue<Data, Result, Name extends string>(
  name: string,
  options: QueueOptions,
): Queue<Data, Result, Name> {
  const queue = new Queue<Data, Result, Name>(name, options);
  queue.on('error', () => {});
  return queue;
}
