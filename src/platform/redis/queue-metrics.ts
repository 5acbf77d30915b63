// What operators see of the queues, asked of Redis whenever a process is scraped: the same from every process.
import type { Registry } from 'prom-client';
import { createAskedGauge } from '../asked-gauge.js';
import type { Redis } from './client.js';
import { openQueue } from './open-queue.js';

const STATES = ['waiting', 'active', 'delayed', 'failed'] as const;

/** Registers the gauges. `close` gives back what the queues hold; the connection stays the caller's. */
export function createQueueMetrics(
  registry: Registry,
  redis: Redis,
  names: readonly string[],
): { close(): Promise<void> } {
  const queues = names.map((name) => openQueue(name, { connection: redis, skipMetasUpdate: true }));
  createAskedGauge(
    registry,
    {
      name: 'queue_jobs',
      help: 'Jobs by queue and state; failed ones are kept for a person to look at',
      labelNames: ['queue', 'state'],
    },
    async () => {
      const counts = await Promise.all(queues.map((queue) => queue.getJobCounts(...STATES)));
      return queues.flatMap(({ name }, at) =>
        STATES.map((state) => ({ labels: { queue: name, state }, value: counts[at]?.[state] ?? 0 })),
      );
    },
  );
  createAskedGauge(
    registry,
    {
      name: 'queue_oldest_waiting_seconds',
      help: 'Age of the job that has waited longest, by queue; 0 when none waits',
      labelNames: ['queue'],
    },
    () =>
      Promise.all(
        queues.map(async (queue) => {
          const [oldest] = await queue.getJobs(['waiting'], 0, 0, true);
          const value = oldest === undefined ? 0 : (Date.now() - oldest.timestamp) / 1000;
          return { labels: { queue: queue.name }, value };
        }),
      ),
  );
  return {
    close: async () => {
      await Promise.all(queues.map((queue) => queue.close()));
    },
  };
}
