// Ctrl-C as a command under `npm run` gets it where `sh` is bash: SIGINT from the terminal, and a
// second one from npm.
import type { ChildProcess } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';

// Node begins to handle the first one within less.
const FORWARDED_AFTER_MS = 20;

export async function pressCtrlC(child: Pick<ChildProcess, 'kill'>): Promise<void> {
  child.kill('SIGINT');
  await delay(FORWARDED_AFTER_MS);
  child.kill('SIGINT');
}
