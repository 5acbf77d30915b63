// Start gate of a process: the supervisor starts it early, so that Node loads its modules while the
// stores start, and lets it continue later. Without the option a process does not wait.
import { once } from 'node:events';

/** Option of the command line: a line on standard input opens the gate. */
export const START_GATE = '--start-gate';

/** Resolves when the gate opens. Ends the process when the supervisor has ended before. */
export async function passStartGate(): Promise<void> {
  if (!process.argv.includes(START_GATE)) return;
  const { stdin } = process;
  const opened = once(stdin, 'data').then(() => true);
  const isOpen = await Promise.race([opened, once(stdin, 'end').then(() => false)]);
  if (!isOpen) process.exit(0);
  stdin.destroy();
}
