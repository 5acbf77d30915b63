// Ctrl-C as a command under `npm run` gets it where `sh` is bash: SIGINT from the terminal, and a
// second one from npm.
import type { ChildProcess } from 'node:child_process';
import { constants } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';

// Node begins to handle the first one within less.
const FORWARDED_AFTER_MS = 20;

export async function pressCtrlC(child: Pick<ChildProcess, 'kill'>): Promise<void> {
  child.kill('SIGINT');
  await delay(FORWARDED_AFTER_MS);
  child.kill('SIGINT');
}

/**
 * The exit status as a shell shows it: 130 also when the second signal has come while Node ended a
 * process that was done.
 */
export const shellStatusOf = (status: number | null, signal: NodeJS.Signals | null): number | null =>
  signal === null ? status : 128 + constants.signals[signal];
