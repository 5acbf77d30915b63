// Prometheus metrics of queries.
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { PublicError } from '../platform/errors.js';
import { AnswerNotWanted } from './engine-failures.js';
import type { QueryShares } from './shares.js';

export interface QueryMetrics {
  readonly compileErrors: Counter;
  /** Refused queries by reason: queue_full, waited. */
  readonly refused: Counter<'reason'>;
  /**
   * Returns the function to call when the query gets its place. A newcomer is a project without
   * other queries here.
   */
  beginWait(isNewcomer: boolean): () => void;
  /** Starts the time of a query. */
  begin(): QueryMeasure;
}

export interface QueryMeasure {
  /** The mode is not known before the query is compiled. */
  compiled(query: { readonly mode: string }): void;
  scanned(rows: number): void;
  /** Ends the time. An error is its outcome. */
  end(error?: unknown): void;
}

/** Kind of a public error; `failed` for bugs and failures of a store. */
function outcomeOf(error: unknown): string {
  if (error instanceof AnswerNotWanted) return 'cancelled';
  return error instanceof PublicError ? error.kind : 'failed';
}

export function createQueryMetrics(
  registry: Registry,
  shares: Pick<QueryShares, 'running' | 'waiting' | 'projects'>,
): QueryMetrics {
  const duration = new Histogram({
    name: 'query_duration_seconds',
    help: 'Time from the text of a query to its formatted answer or its error, by mode ("none" when it was not compiled) and outcome',
    labelNames: ['mode', 'outcome'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers: [registry],
  });
  const rowsScanned = new Counter({
    name: 'query_rows_scanned_total',
    help: 'Rows the engine read for queries, by mode',
    labelNames: ['mode'],
    registers: [registry],
  });
  createReadGauge(registry, { name: 'query_running', help: 'Queries that are being answered' }, () => shares.running);
  createReadGauge(
    registry,
    { name: 'query_waiting', help: 'Queries that wait for one of those to end' },
    () => shares.waiting,
  );
  createReadGauge(
    registry,
    { name: 'query_projects', help: 'Projects whose queries run or wait' },
    () => shares.projects,
  );
  const waited = new Histogram({
    name: 'query_wait_seconds',
    help: 'Time a query waited for its place, by whether its project had no other queries (newcomer)',
    labelNames: ['newcomer'],
    buckets: [0.001, 0.01, 0.1, 0.5, 1, 2.5, 5, 10, 30],
    registers: [registry],
  });
  const refused = new Counter({
    name: 'query_refused_total',
    help: 'Queries that were not run: the queue of their project was full, or they waited too long (both 429)',
    labelNames: ['reason'],
    registers: [registry],
  });
  for (const reason of ['queue_full', 'waited']) refused.inc({ reason }, 0);
  return {
    compileErrors: new Counter({
      name: 'query_compile_errors_total',
      help: 'Queries that were refused because of their text',
      registers: [registry],
    }),
    refused,
    beginWait: (isNewcomer) => waited.startTimer({ newcomer: String(isNewcomer) }),
    begin: () => {
      const endTimer = duration.startTimer();
      let mode = 'none';
      return {
        compiled: (query) => {
          mode = query.mode;
        },
        scanned: (rows) => rowsScanned.inc({ mode }, rows),
        end: (error) => {
          endTimer({ mode, outcome: error === undefined ? 'answered' : outcomeOf(error) });
        },
      };
    },
  };
}

/** A gauge whose value is read on every scrape. */
function createReadGauge(registry: Registry, about: { name: string; help: string }, read: () => number): void {
  new Gauge({
    ...about,
    registers: [registry],
    collect() {
      this.set(read());
    },
  });
}

/** Metrics of kept answers, by result: hit, miss, changed, shared. */
export function createKeptMetrics(registry: Registry, bytes: () => number): { readonly used: Counter<'result'> } {
  const used = new Counter({
    name: 'query_answers_kept_total',
    help: 'Looks for a kept answer: found (hit), none (miss), its data or range has changed, or the same query ran already (shared)',
    labelNames: ['result'],
    registers: [registry],
  });
  for (const result of ['hit', 'miss', 'changed', 'shared']) used.inc({ result }, 0);
  createReadGauge(
    registry,
    { name: 'query_answers_kept_bytes', help: 'Bytes of the answers that are kept in memory' },
    bytes,
  );
  return { used };
}
