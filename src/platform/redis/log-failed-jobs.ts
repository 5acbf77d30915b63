// Logs of durable jobs that fail. A dead letter waits for an operator: each one is an error. All
// other jobs run again, and those that wait for one insert fail together.
import { type Job, UnrecoverableError, type Worker } from 'bullmq';
import type { Logger } from '../log.js';
import { createRepeatedWarning } from '../repeated-warning.js';

/** Whether the job of this failure becomes a dead letter. */
export const isDeadLetter = (error: Error): boolean => error instanceof UnrecoverableError;

interface FailedJobs<D> {
  readonly log: Pick<Logger, 'error' | 'warn'>;
  /** What the log calls a job: "an ingest job". */
  readonly name: string;
  /** Ids of the requests of a dead letter. */
  requestsOf(data: D): readonly string[] | undefined;
}

export function logFailedJobs<D>(worker: Pick<Worker<D>, 'on'>, { log, name, requestsOf }: FailedJobs<D>): void {
  const warn = createRepeatedWarning({ log, message: `${name} failed and runs again` });
  worker.on('failed', (job: Job<D> | undefined, err) => {
    if (isDeadLetter(err)) log.error({ err, job: job?.id, requests: job && requestsOf(job.data) }, `${name} failed`);
    else warn(err, { job: job?.id });
  });
}
