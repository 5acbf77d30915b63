// How jobs live that hold what was accepted: they ride out outages of any length, and are kept for a person to look at when they can
// never succeed.

/** For the queue. Attempts are spent on outages as well, and those may last for days. */
export const PATIENT_JOB_OPTIONS = {
  attempts: 1_000_000,
  backoff: { type: 'exponential', delay: 500, jitter: 0.5 },
  removeOnComplete: true,
  removeOnFail: false,
} as const;

/** For the worker. A killed worker's jobs are taken over after at most lock and check, and never given up, however often it happens. */
export const PATIENT_WORKER_OPTIONS = {
  lockDuration: 10_000,
  stalledInterval: 5_000,
  maxStalledCount: 1_000_000,
  removeOnComplete: { count: 0 },
  removeOnFail: { count: Number.MAX_SAFE_INTEGER },
};
