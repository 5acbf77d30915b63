// Prometheus metrics of ingestion: accepted and skipped events in the API, inserts in the workers.
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
      help: 'Events that were skipped, by reason',
      labelNames: ['reason'],
      registers: [registry],
    }),
    skippedCalls: new Counter({
      name: 'ingest_sdk_calls_skipped_total',
      help: 'Calls of SDKs of other products that have no equal here, by protocol and reason',
      labelNames: ['protocol', 'reason'],
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

/** `insert` times one insert and counts its rows, or its failure. */
export type InsertMetrics = ReturnType<typeof createInsertMetrics>;

export function createInsertMetrics(registry: Registry) {
  const rows = new Histogram({
    name: 'ingest_insert_rows',
    help: 'Rows in one insert, duplicates included',
    buckets: [1, 10, 100, 1000, 5000, 10_000, 20_000, 50_000],
    registers: [registry],
  });
  const duration = new Histogram({
    name: 'ingest_insert_duration_seconds',
    help: 'Time that one insert took, the wait for the query-id lock included',
    buckets: [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers: [registry],
  });
  const failures = new Counter({
    name: 'ingest_insert_failures_total',
    help: 'Inserts that failed; transient failures are retried',
    registers: [registry],
  });
  const forgotten = new Counter({
    name: 'ingest_events_forgotten_total',
    help: 'Events that were accepted and not stored, because their person was erased in the meantime',
    registers: [registry],
  });
  return {
    forgotten,
    insert: async (count: number, write: () => Promise<void>): Promise<void> => {
      const stop = duration.startTimer();
      try {
        await write();
      } catch (error) {
        failures.inc();
        throw error;
      }
      stop();
      rows.observe(count);
    },
  };
}
