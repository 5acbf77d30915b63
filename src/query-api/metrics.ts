// What operators see of queries.
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Gate } from './gate.js';

export interface QueryMetrics {
  readonly compileErrors: Counter;
  observe(query: { mode: string; elapsedMs: number; rowsScanned: number }): void;
}

export function createQueryMetrics(registry: Registry, gate: Gate): QueryMetrics {
  const duration = new Histogram({
    name: 'query_duration_seconds',
    help: 'Time from the text of a query to its rows, by mode',
    labelNames: ['mode'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers: [registry],
  });
  const rowsScanned = new Counter({
    name: 'query_rows_scanned_total',
    help: 'Rows the engine read for queries, by mode',
    labelNames: ['mode'],
    registers: [registry],
  });
  new Gauge({
    name: 'query_running',
    help: 'Queries that are being answered',
    registers: [registry],
    collect() {
      this.set(gate.running);
    },
  });
  new Gauge({
    name: 'query_waiting',
    help: 'Queries that wait for one of those to end',
    registers: [registry],
    collect() {
      this.set(gate.waiting);
    },
  });
  return {
    compileErrors: new Counter({
      name: 'query_compile_errors_total',
      help: 'Queries that were refused because of their text',
      registers: [registry],
    }),
    observe: (query) => {
      duration.observe({ mode: query.mode }, query.elapsedMs / 1000);
      rowsScanned.inc({ mode: query.mode }, query.rowsScanned);
    },
  };
}
