// What operators see of the queues, asked of Redis whenever a process is scraped: the same from every process.
import { Queue } from 'bullmq';
import { Gauge, type Registry } from 'prom-client';
import type { Redis } from './client.js';

const STATES = ['waiting', 'active', 'delayed', 'failed'] as const;

/** Registers the gauges. `close` gives back what the queues hold; the connection stays the caller's. */
export function createQueueMetrics(
  registry: Registry,
  redis: Redis,
  names: readonly string[],
): { close(): Promise<void> } {
  const queues = names.map((name) => new Queue(name, { connection: redis, skipMetasUpdate: true }));
  new Gauge({
    name: 'queue_jobs',
    help: 'Jobs by queue and state; failed ones are kept for a person to look at',
    labelNames: ['queue', 'state'],
    registers: [registry],
    async collect() {
      for (const queue of queues) {
        const counts = await queue.getJobCounts(...STATES);
        for (const state of STATES) this.set({ queue: queue.name, state }, counts[state] ?? 0);
      }
    },
  });
  new Gauge({
    name: 'queue_oldest_waiting_seconds',
    help: 'Age of the job that has waited longest, by queue; 0 when none waits',
    labelNames: ['queue'],
    registers: [registry],
    async collect() {
      for (const queue of queues) {
        const [oldest] = await queue.getJobs(['waiting'], 0, 0, true);
        this.set({ queue: queue.name }, oldest === undefined ? 0 : (Date.now() - oldest.timestamp) / 1000);
      }
    },
  });
  return {
    close: async () => {
      await Promise.all(queues.map((queue) => queue.close()));
    },
  };
}
