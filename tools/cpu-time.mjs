// CPU time of this process and of the child processes that have ended.
import { readFileSync } from 'node:fs';

const TICKS_PER_SECOND = 100;

/** User and system time in seconds; undefined on systems without /proc. */
export function cpuSeconds() {
  try {
    const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ') ?? [];
    const ticks = fields.slice(11, 15).reduce((sum, text) => sum + Number(text), 0);
    return ticks / TICKS_PER_SECOND;
  } catch {
    return undefined;
  }
}
