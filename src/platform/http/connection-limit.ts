// Limit of a server's connections below that of the open files of its process (ulimit -n), which
// connections to the stores need as well. Node.js closes connections beyond either without a word.
import { readFileSync } from 'node:fs';
import type { Server } from 'node:net';
import type { Logger } from '../log.js';
import { createRepeatedWarning } from '../repeated-warning.js';

/** Files for everything else: connections to the stores, threads, logs. */
const RESERVED_FILES = 128;

/** Connections that leave files for everything else, of which a low limit gives half. */
export const connectionsOf = (filesMax: number): number =>
  Math.max(filesMax - RESERVED_FILES, Math.floor(filesMax / 2));

/** Undefined where it cannot be read, or there is none. Node.js raises it to the hard limit. */
function readFilesMax(): number | undefined {
  try {
    const [, max] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return max === undefined ? undefined : Number(max);
  } catch {
    return undefined;
  }
}

/** Logs once in half a minute that connections are closed, with their number. */
export function limitConnections(server: Server, log: Pick<Logger, 'warn'>, filesMax = readFilesMax()): void {
  if (filesMax === undefined) return;
  server.maxConnections = connectionsOf(filesMax);
  const warn = createRepeatedWarning({ log, message: 'connections are closed' });
  const reason = `more than ${server.maxConnections} at once: raise the limit of open files (ulimit -n), which is ${filesMax}`;
  server.on('drop', () => warn(reason));
}
