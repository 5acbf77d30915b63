// Scheduled jobs: a BullMQ job scheduler with its queue and worker. Upserts are idempotent, so
// however many processes start a job, each schedule exists once and each run happens in one
// process. A failed run is logged and not retried, because the next run does the same work.
// Schedules that Redis has lost with its data are set up again. So are those whose next run is too
// far in the future, because the clock of a machine was ahead.
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'bullmq';
import { logErrors } from '../src/platform/redis/log-errors.js';
import { openQueue } from '../src/platform/redis/open-queue.js';
import { isTransientError } from '../src/platform/transient-errors.js';
import type { Needs, RunningJob } from './runtime.js';

export interface ScheduledJob<Deps> {
  /** Name of the queue, and of its schedule when there is one. */
  readonly name: string;
  /** One interval, or the intervals of several schedules by name. */
  readonly everyMs: number | Readonly<Record<string, number>>;
  /** Called at the start of the process. `signal` is aborted when it stops. */
  readonly open: (deps: Deps, signal: AbortSignal) => ScheduledWork | Promise<ScheduledWork>;
}

export interface ScheduledWork {
  readonly run: (schedule: string) => Promise<void>;
  /** Releases the resources of `run`, after its last run has ended. */
  readonly close?: () => Promise<void>;
}

/** Time between two looks for schedules that are lost or too far in the future. */
const RESTORE_MS = 10_000;

export const defineScheduledJob =
  <Deps extends Needs<'redis' | 'log'>>({ name, everyMs, open }: ScheduledJob<Deps>) =>
  async (deps: Deps): Promise<RunningJob> => {
    const { redis, log } = deps;
    const queue = openQueue(name, redis);
    const schedules = Object.entries(typeof everyMs === 'number' ? { [name]: everyMs } : everyMs);
    const schedule = async () => {
      for (const [id, every] of schedules) {
        const opts = { removeOnComplete: true, removeOnFail: true };
        await queue.upsertJobScheduler(id, { every }, { name: id, opts });
      }
    };
    await schedule();
    const stopping = new AbortController();
    const { signal } = stopping;
    const restore = async () => {
      const kept = await queue.getJobSchedulers();
      const late = kept.filter(({ next = 0, every = 0 }) => next > Date.now() + Number(every) + RESTORE_MS);
      if (late.length > 0) {
        log.warn(
          { queue: name },
          'a clock was ahead: the next run of a job is too far in the future; its schedule is set up again',
        );
        for (const { key } of late) await queue.removeJobScheduler(key);
      } else if (kept.length < schedules.length) {
        log.warn({ queue: name }, 'redis has lost the schedules of a job; they are set up again');
      } else return;
      await schedule();
    };
    // One at a time, because a command waits while Redis is unavailable; the worker logs that.
    const keepRestoring = async () => {
      for (;;) {
        await delay(RESTORE_MS, undefined, { signal });
        await restore().catch(() => {});
      }
    };
    keepRestoring().catch(() => {});
    const work = await open(deps, signal);
    const worker = new Worker(name, (job) => work.run(job.name), { connection: redis.duplicate() });
    worker.on('failed', (_job, err) => {
      const level = isTransientError(err) ? 'warn' : 'error';
      if (!signal.aborted) log[level]({ err, queue: name }, 'a scheduled job failed; its next run repeats it');
    });
    logErrors(worker, { log, message: 'a scheduled job lost touch with redis', queue: name });
    return {
      async close() {
        stopping.abort();
        await worker.close();
        await work.close?.();
        await queue.close();
      },
    };
  };
