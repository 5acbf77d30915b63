// Retry policy of durable jobs: transient failures are retried forever, permanent ones stay in the
// failed set.

/** Job options. Outages consume attempts and may last for days, hence the number. */
export const DURABLE_JOB_OPTIONS = {
  attempts: 1_000_000,
  backoff: { type: 'exponential', delay: 500, jitter: 0.5 },
  removeOnComplete: true,
  removeOnFail: false,
} as const;

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
