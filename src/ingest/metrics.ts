// What operators see of ingestion at the edge.
import { Counter, Histogram, type Registry } from 'prom-client';

export function createIngestMetrics(registry: Registry) {
  return {
    accepted: new Counter({
      name: 'ingest_events_accepted_total',
      help: 'Events that were stored in the queue and acknowledged',
      registers: [registry],
    }),
    skipped: new Counter({
      name: 'ingest_events_skipped_total',
      help: 'Events that were not taken, by reason',
      labelNames: ['reason'],
      registers: [registry],
    }),
    commitEvents: new Histogram({
      name: 'ingest_commit_events',
      help: 'Events in one commit to the queue',
      buckets: [1, 5, 10, 50, 100, 500, 1000, 2000, 4000],
      registers: [registry],
    }),
  };
}

export type IngestMetrics = ReturnType<typeof createIngestMetrics>;
