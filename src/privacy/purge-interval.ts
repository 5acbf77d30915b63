// How often files are rewritten.
import type { Config } from '../platform/config.js';

export type PurgeTimes = Pick<Config, 'PRIVACY_PURGE_DELAY_MS' | 'PRIVACY_PURGE_BY_MS'>;

/**
 * Minimum time between two purges in milliseconds, because a purge rewrites files and locks tables:
 * frequent erasures or deletions of projects must not slow down everyone else. A third of the time
 * between the earliest purge and its deadline leaves room to finish.
 */
export const purgeEveryMs = ({ PRIVACY_PURGE_DELAY_MS: delayMs, PRIVACY_PURGE_BY_MS: byMs }: PurgeTimes): number =>
  Math.min(delayMs, byMs - delayMs) / 3;
