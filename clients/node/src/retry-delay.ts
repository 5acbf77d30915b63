// Retry delays.

/** Number of retries. */
export const RETRIES_MAX = 3;
const RETRY_AFTER_SECONDS_MAX = 60;

/** Milliseconds before retry 0, 1 or 2: 1, 2 and 4 s, or Retry-After when that is longer. */
export function retryDelayMs(retry: number, retryAfter: string | null): number {
  const asked = Number(retryAfter) || 0;
  return 1000 * Math.max(2 ** retry, Math.min(asked, RETRY_AFTER_SECONDS_MAX));
}

export const isPassing = (status: number): boolean => status === 429 || status >= 500;
