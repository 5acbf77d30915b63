// Logs errors of connections to Redis. While it cannot be reached, or writes nothing because its
// disk is full, each connection fails every few seconds, and a process has dozens of them.
import { createRepeatedWarning, RepeatedErrors, type Warning } from '../repeated-warning.js';
import { isTransientError } from '../transient-errors.js';

interface Source {
  on(event: 'error', listener: (error: Error) => void): unknown;
}

/** Of an outage: all connections of the process have the same. */
const outages = new RepeatedErrors();

/**
 * Each error once within 30 seconds, and one of an outage once for the whole process. `fields` are
 * logged with it.
 */
export function logErrors(source: Source, warning: Warning): void {
  const warn = createRepeatedWarning(warning);
  const warnOfOutage = createRepeatedWarning(warning, outages);
  source.on('error', (error) => ('syscall' in error || isTransientError(error) ? warnOfOutage : warn)(error));
}
