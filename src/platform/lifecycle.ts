// Frame of a process: what it logs at its start, and its shutdown. On SIGTERM or SIGINT the
// registered steps run in reverse order, within a deadline.
import { format } from 'node:util';
import { readIgnoredSettings } from './config.js';
import type { Logger } from './log.js';
import { describeNodeVersion } from './node-version.js';
import { createRepeatedWarning } from './repeated-warning.js';
import { START_GATE } from './start-gate.js';
import { markUsedBuild } from './used-build.js';

export interface Lifecycle {
  /** Registers a shutdown step; the latest runs first. */
  onClose(name: string, step: () => Promise<unknown>): void;
}

// Heroku and similar platforms send SIGKILL 30 s after SIGTERM.
const SHUTDOWN_DEADLINE_MS = 28_000;

export function createLifecycle(log: Logger): Lifecycle {
  markUsedBuild();
  const warn = createRepeatedWarning({ log, message: 'a package warns' });
  // BullMQ prints the same line for each of its connections.
  Object.assign(console, { warn: (...said: unknown[]) => warn(format(...said)) });
  const node = describeNodeVersion(process.versions.node);
  if (node !== undefined) log[node.isOld ? 'error' : 'warn'](node.sentence);
  // Of a process that `npm start` runs, that command says it.
  if (!process.argv.includes(START_GATE)) for (const sentence of readIgnoredSettings()) log.warn(sentence);
  const steps: { name: string; step: () => Promise<unknown> }[] = [];
  let isClosing = false;

  async function close(signal: string): Promise<void> {
    if (isClosing) return;
    isClosing = true;
    log.info({ signal }, 'stopping');
    setTimeout(() => {
      log.error('stopping took too long; exiting');
      process.exit(1);
    }, SHUTDOWN_DEADLINE_MS).unref();
    for (const { name, step } of steps.reverse()) {
      await step().catch((err: unknown) => log.error({ err, step: name }, 'a step of stopping failed'));
    }
    log.info('stopped');
    process.exit(0);
  }

  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void close(signal));
  return { onClose: (name, step) => void steps.push({ name, step }) };
}
