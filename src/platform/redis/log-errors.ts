// Logs errors of connections to Redis. While it cannot be reached, each connection fails every two
// seconds, and a process has dozens of them.
import { createRepeatedWarning, RepeatedErrors, type Warning } from '../repeated-warning.js';

interface Source {
  on(event: 'error', listener: (error: Error) => void): unknown;
}

/** Of the network: all connections of the process have the same. */
const networkErrors = new RepeatedErrors();

/**
 * Each error once within 30 seconds, and one of the network once for the whole process. `fields`
 * are logged with it.
 */
export function logErrors(source: Source, warning: Warning): void {
  const warn = createRepeatedWarning(warning);
  const warnOfNetwork = createRepeatedWarning(warning, networkErrors);
  source.on('error', (error) => ('syscall' in error ? warnOfNetwork : warn)(error));
}
