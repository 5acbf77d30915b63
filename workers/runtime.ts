// Dependencies of worker jobs, and the selection of jobs that a worker process runs.
import type { Registry } from 'prom-client';
import type { Shards } from '../src/platform/clickhouse/shards.js';
import type { Config } from '../src/platform/config.js';
import { ConfigProblem } from '../src/platform/config-problem.js';
import type { Logger } from '../src/platform/log.js';
import type { Postgres } from '../src/platform/postgres/client.js';
import type { Redis } from '../src/platform/redis/client.js';

export interface WorkerDeps {
  readonly config: Config;
  readonly shards: Shards;
  readonly postgres: Postgres;
  readonly redis: Redis;
  readonly metrics: Registry;
  readonly log: Logger;
}

/** The dependencies and settings that a job uses. */
export type Needs<K extends Exclude<keyof WorkerDeps, 'config'>, S extends keyof Config = never> = Pick<
  WorkerDeps,
  K
> & { readonly config: Pick<Config, S> };

export interface RunningJob {
  /** Stops taking work, and finishes or returns started jobs. */
  close(): Promise<void>;
}

/** Several jobs under one name of WORKER_JOBS. */
export async function joinJobs(...starting: readonly Promise<RunningJob>[]): Promise<RunningJob> {
  const jobs = await Promise.all(starting);
  return { close: async () => void (await Promise.all(jobs.map((job) => job.close()))) };
}

export type JobStarter = (deps: WorkerDeps) => RunningJob | Promise<RunningJob>;

/** Jobs named in WORKER_JOBS, else all. Throws ConfigProblem for an unknown name. */
export function chooseJobs(
  jobs: Readonly<Record<string, JobStarter>>,
  wanted: string | undefined,
): [name: string, start: JobStarter][] {
  if (wanted === undefined) return Object.entries(jobs);
  return wanted.split(',').map((text) => {
    const name = text.trim();
    const start = Object.hasOwn(jobs, name) ? jobs[name] : undefined;
    if (start === undefined) {
      throw new ConfigProblem(`WORKER_JOBS: there is no job "${name}"; the jobs are ${Object.keys(jobs).join(', ')}`);
    }
    return [name, start];
  });
}
