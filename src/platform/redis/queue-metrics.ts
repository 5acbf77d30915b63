// Queue metrics, read from Redis on every scrape; every process exports the same values.
import type { Queue } from 'bullmq';
import type { Registry } from 'prom-client';
import { createCollectedGauge } from '../collected-gauge.js';
import type { Redis } from './client.js';
import { readOldestWaitMs } from './oldest-waiting.js';
import { openQueueToRead } from './open-queue.js';

const STATES = ['waiting', 'active', 'delayed', 'failed'] as const;

/** Jobs with a priority wait like any other. */
async function countJobs(queue: Queue): Promise<Partial<Record<string, number>>> {
  const counts = await queue.getJobCounts(...STATES, 'prioritized');
  return { ...counts, waiting: (counts.waiting ?? 0) + (counts.prioritized ?? 0) };
}

/**
 * Registers the gauges; the names are asked for each time. `close` closes the queues; the
 * connection belongs to the caller.
 */
export function createQueueMetrics(
  registry: Registry,
  redis: Redis,
  namesNow: () => readonly string[],
): { close(): Promise<void> } {
  const open = new Map<string, Queue>();
  const queuesNow = (): Queue[] =>
    namesNow().map((name) => {
      const queue = open.get(name) ?? openQueueToRead(name, redis);
      open.set(name, queue);
      return queue;
    });
  createCollectedGauge(
    registry,
    {
      name: 'queue_jobs',
      help: 'Jobs by queue and state; failed ones are kept for a person to look at',
      labelNames: ['queue', 'state'],
    },
    async () => {
      const queues = queuesNow();
      const counts = await Promise.all(queues.map(countJobs));
      return queues.flatMap(({ name }, at) =>
        STATES.map((state) => ({ labels: { queue: name, state }, value: counts[at]?.[state] ?? 0 })),
      );
    },
  );
  createCollectedGauge(
    registry,
    {
      name: 'queue_oldest_waiting_seconds',
      help: 'Age of the job that has waited longest, by queue; 0 when none waits',
      labelNames: ['queue'],
    },
    () =>
      Promise.all(
        queuesNow().map(async (queue) => {
          const waitMs = (await readOldestWaitMs(redis, queue)) ?? 0;
          return { labels: { queue: queue.name }, value: waitMs / 1000 };
        }),
      ),
  );
  return {
    close: async () => {
      await Promise.all([...open.values()].map((queue) => queue.close()));
    },
  };
}
