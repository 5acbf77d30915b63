// Scheduled jobs: a BullMQ job scheduler with its queue and worker. Upserts are idempotent, so however
// many processes start a job, each schedule exists once and each run happens in one process. A failed
// run is logged and not retried, because the next run does the same work.
import { Worker } from 'bullmq';
import { openQueue } from '../src/platform/redis/open-queue.js';
import type { RunningJob, WorkerDeps } from './runtime.js';

const FAILED_RUNS_KEPT = 10;

export interface Schedule {
  readonly name: string;
  readonly everyMs: number;
}

export interface Run {
  /** Name of the schedule that started the run. */
  readonly schedule: string;
  /** Aborted when the process stops. */
  readonly signal: AbortSignal;
}

export interface ScheduledJob {
  /** Name of the queue. */
  readonly queue: string;
  readonly schedules: readonly Schedule[];
  readonly run: (run: Run) => Promise<void>;
  /** Releases the resources of `run`, after its last run has ended. */
  readonly close?: () => Promise<void>;
}

export async function startScheduledJob(
  { redis, log }: Pick<WorkerDeps, 'redis' | 'log'>,
  job: ScheduledJob,
): Promise<RunningJob> {
  const queue = openQueue(job.queue, { connection: redis });
  for (const { name, everyMs } of job.schedules) {
    const opts = { removeOnComplete: true, removeOnFail: FAILED_RUNS_KEPT };
    await queue.upsertJobScheduler(name, { every: everyMs }, { name, opts });
  }
  const stopping = new AbortController();
  const worker = new Worker(job.queue, ({ name }) => job.run({ schedule: name, signal: stopping.signal }), {
    connection: redis.duplicate(),
  });
  worker.on('failed', (_job, err) => {
    if (!stopping.signal.aborted)
      log.warn({ err, queue: job.queue }, 'a scheduled job failed; its next run repeats it');
  });
  worker.on('error', (err) => log.warn({ err, queue: job.queue }, 'a scheduled job lost its redis connection'));
  return {
    async close() {
      stopping.abort();
      await worker.close();
      await job.close?.();
      await queue.close();
    },
  };
}
