// Warning about an error that repeats with each request or attempt while a store is unavailable.
import { messageOf } from './errors.js';
import type { Logger } from './log.js';

/** Until the same error is logged again. */
const REPEATED_AFTER_MS = 30_000;
const ERRORS_MAX = 20;
/** What Redis adds to the errors of scripts, of which each command of BullMQ is one. */
const OF_SCRIPT = / script: [0-9a-f]{40}, on @.*$/;

/** Which errors are due to be logged: each once within 30 seconds, by its message. */
export class RepeatedErrors {
  readonly #logged = new Map<string, { at: number; repeated: number }>();

  /** How often it has come since it was logged last; undefined when it is not due. */
  take(err: unknown): number | undefined {
    const now = performance.now();
    const reason = messageOf(err).replace(OF_SCRIPT, '');
    const before = this.#logged.get(reason);
    if (before !== undefined && now - before.at < REPEATED_AFTER_MS) {
      before.repeated += 1;
      return undefined;
    }
    if (this.#logged.size >= ERRORS_MAX) this.#logged.clear();
    this.#logged.set(reason, { at: now, repeated: 0 });
    return before?.repeated ?? 0;
  }
}

/**
 * Logs each error once within 30 seconds. `fields` and those of the call are logged with it, and as
 * `repeated` how often it has come since it was logged last, when it has. Warnings that share
 * `errors` log an error once together.
 */
export function createRepeatedWarning(
  { log, message, ...fields }: Warning,
  errors = new RepeatedErrors(),
): RepeatedWarning {
  return (err, more) => {
    const repeated = errors.take(err);
    if (repeated !== undefined) log.warn({ err, ...fields, ...more, ...(repeated > 0 && { repeated }) }, message);
  };
}

export type RepeatedWarning = (error: unknown, more?: Readonly<Record<string, unknown>>) => void;

export interface Warning {
  readonly log: Pick<Logger, 'warn'>;
  readonly message: string;
  readonly queue?: string;
  readonly shard?: number;
}
