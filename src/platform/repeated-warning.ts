// Warning about an error that repeats with each request or attempt while a store is unavailable.
import type { Logger } from './log.js';

/** Until the same error is logged again. */
const REPEATED_AFTER_MS = 30_000;
const ERRORS_MAX = 20;

/**
 * Logs each error once within 30 seconds, by its message. `fields` and those of the call are logged
 * with it, and as `repeated` how often it has come since it was logged last, when it has.
 */
export function createRepeatedWarning({ log, message, ...fields }: Warning): RepeatedWarning {
  const logged = new Map<string, { at: number; repeated: number }>();
  return (err, more) => {
    const now = performance.now();
    const reason = err instanceof Error ? err.message : String(err);
    const before = logged.get(reason);
    if (before !== undefined && now - before.at < REPEATED_AFTER_MS) {
      before.repeated += 1;
      return;
    }
    if (logged.size >= ERRORS_MAX) logged.clear();
    logged.set(reason, { at: now, repeated: 0 });
    log.warn({ err, ...fields, ...more, ...(before?.repeated && { repeated: before.repeated }) }, message);
  };
}

export type RepeatedWarning = (error: unknown, more?: Readonly<Record<string, unknown>>) => void;

export interface Warning {
  readonly log: Pick<Logger, 'warn'>;
  readonly message: string;
  readonly queue?: string;
  readonly shard?: number;
}
