// Logs errors of connections to Redis. While it cannot be reached, each connection fails every two
// seconds, and a process has dozens of them.
import { createRepeatedWarning, type Warning } from '../repeated-warning.js';

interface Source {
  on(event: 'error', listener: (error: Error) => void): unknown;
}

/** Each error once within 30 seconds. `fields` are logged with it. */
export function logErrors(source: Source, warning: Warning): void {
  source.on('error', createRepeatedWarning(warning));
}
