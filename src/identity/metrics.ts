// Prometheus metrics of identify calls: in the API, in the workers, and the lag of the projection.
import { Counter, type Registry } from 'prom-client';
import { createCollectedGauge } from '../platform/collected-gauge.js';

export function createIdentifyMetrics(registry: Registry) {
  return {
    accepted: new Counter({
      name: 'identify_calls_accepted_total',
      help: 'Identify calls that were stored in the queue and acknowledged',
      registers: [registry],
    }),
    refused: new Counter({
      name: 'identify_calls_refused_total',
      help: 'Identify calls that were answered 400, by what was wrong',
      labelNames: ['reason'],
      registers: [registry],
    }),
  };
}

export type IdentifyMetrics = ReturnType<typeof createIdentifyMetrics>;

export interface OutboxDepth {
  readonly rows: number;
  readonly oldestSeconds: number;
}

/** `measureOutbox` is called on every scrape. */
export function createIdentityWorkerMetrics(registry: Registry, measureOutbox: () => Promise<OutboxDepth>) {
  createCollectedGauge(
    registry,
    {
      name: 'identity_outbox_rows',
      help: 'Changes of profiles and mappings that are not yet copied to ClickHouse',
    },
    async () => [{ value: (await measureOutbox()).rows }],
  );
  createCollectedGauge(
    registry,
    { name: 'identity_outbox_oldest_seconds', help: 'Age of the oldest of them' },
    async () => [{ value: (await measureOutbox()).oldestSeconds }],
  );
  return {
    applied: new Counter({
      name: 'identify_operations_applied_total',
      help: 'Identify calls whose outcome was stored in PostgreSQL',
      registers: [registry],
    }),
  };
}
