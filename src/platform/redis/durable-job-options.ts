// Retry policy of durable jobs: transient failures are retried forever, permanent ones stay in the
// failed set.

const PAUSE_FIRST_MS = 500;
const PAUSE_MAX_MS = 30_000;

/** Job options. Outages consume attempts and may last for days, hence the number. */
export const DURABLE_JOB_OPTIONS = {
  attempts: 1_000_000,
  // Workers use `cappedBackoffMs` instead (leased-worker.ts). Those of the version before, which
  // may still run during an update, do not know it.
  backoff: { type: 'exponential', delay: PAUSE_FIRST_MS, jitter: 0.5 },
  removeOnComplete: true,
  removeOnFail: false,
} as const;

/** Half of it is random. After an outage of any length, jobs run within 30 s. */
export const cappedBackoffMs = (attemptsMade: number): number =>
  Math.min(PAUSE_MAX_MS, PAUSE_FIRST_MS * 2 ** (attemptsMade - 1)) * (1 - Math.random() / 2);

/**
 * Worker options. Jobs of a killed worker are taken over after at most lockDuration +
 * stalledInterval, any number of times.
 */
export const DURABLE_WORKER_OPTIONS = {
  lockDuration: 10_000,
  stalledInterval: 5_000,
  maxStalledCount: 1_000_000,
  removeOnComplete: { count: 0 },
  removeOnFail: { count: Number.MAX_SAFE_INTEGER },
};
