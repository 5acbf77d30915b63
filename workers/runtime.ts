// What every job is given, and the list of jobs a worker process can run.
import type { Registry } from 'prom-client';
import type { ClickHouseClient } from '../src/platform/clickhouse/client.js';
import type { Config } from '../src/platform/config.js';
import type { Logger } from '../src/platform/log.js';
import type { Postgres } from '../src/platform/postgres/client.js';
import type { Redis } from '../src/platform/redis/client.js';

export interface WorkerDeps {
  readonly config: Config;
  readonly clickhouse: ClickHouseClient;
  readonly postgres: Postgres;
  readonly redis: Redis;
  readonly metrics: Registry;
  readonly log: Logger;
}

export interface RunningJob {
  /** Takes no new work, finishes or returns what was begun. */
  close(): Promise<void>;
}

export type JobStarter = (deps: WorkerDeps) => RunningJob | Promise<RunningJob>;

/** Those named in WORKER_JOBS (separated by commas), else all. Throws for a name that is none. */
export function chooseJobs(
  jobs: Readonly<Record<string, JobStarter>>,
  wanted: string | undefined,
): [name: string, start: JobStarter][] {
  if (wanted === undefined) return Object.entries(jobs);
  return wanted.split(',').map((text) => {
    const name = text.trim();
    const start = Object.hasOwn(jobs, name) ? jobs[name] : undefined;
    if (start === undefined) {
      throw new Error(`WORKER_JOBS: there is no job "${name}"; the jobs are ${Object.keys(jobs).join(', ')}`);
    }
    return [name, start];
  });
}
