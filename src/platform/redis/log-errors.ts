// Logs errors of connections to Redis. While it cannot be reached, each connection fails every two
// seconds, and a process has dozens of them.
import type { Logger } from '../log.js';

/** Until the same error of a connection is logged again. */
const REPEATED_AFTER_MS = 30_000;
const ERRORS_MAX = 20;

interface Source {
  on(event: 'error', listener: (error: Error) => void): unknown;
}

/** Each error once within 30 seconds. `fields` are logged with it. */
export function logErrors(source: Source, { log, message, ...fields }: Logged): void {
  const loggedAt = new Map<string, number>();
  source.on('error', (err) => {
    const now = performance.now();
    if (now - (loggedAt.get(err.message) ?? Number.NEGATIVE_INFINITY) < REPEATED_AFTER_MS) return;
    if (loggedAt.size >= ERRORS_MAX) loggedAt.clear();
    loggedAt.set(err.message, now);
    log.warn({ err, ...fields }, message);
  });
}

interface Logged {
  readonly log: Pick<Logger, 'warn'>;
  readonly message: string;
  readonly queue?: string;
}
