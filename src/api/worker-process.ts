// The worker beside `web` on the same small machine (WEB_WORKER): a child process, so that jobs do
// not hold the event loop that answers requests. It is started again when it ends, stops with
// `web`, and ends when `web` was killed.
import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Lifecycle } from '../platform/lifecycle.js';
import type { Logger } from '../platform/log.js';
import { packageRoot } from '../platform/paths.js';

const ENTRY = join(packageRoot, 'dist', 'processes', 'worker.js');
/** As in the Procfile, where `web` has more. */
const YOUNG_OBJECTS = ['--max-semi-space-size=16'];

const PAUSE_MS = { first: 1000, max: 30_000 };
const STEADY_AFTER_MS = 60_000;

/** The child has the environment of this process. */
export function keepWorkerRunning(lifecycle: Lifecycle, log: Logger): void {
  const stopped = new AbortController();
  let child: ChildProcess | undefined;
  const run = async (): Promise<void> => {
    let pauseMs = PAUSE_MS.first;
    while (!stopped.signal.aborted) {
      const since = performance.now();
      // The channel tells the child when this process has ended.
      const worker = fork(ENTRY, { stdio: 'inherit', execArgv: YOUNG_OBJECTS });
      child = worker;
      const reason = await endOf(worker);
      if (stopped.signal.aborted) return;
      if (performance.now() - since > STEADY_AFTER_MS) pauseMs = PAUSE_MS.first;
      log.error({ reason, pauseMs }, 'the worker ended and is started again');
      await delay(pauseMs, undefined, { signal: stopped.signal }).catch(() => undefined);
      pauseMs = Math.min(2 * pauseMs, PAUSE_MS.max);
    }
  };
  const ended = run();
  lifecycle.onClose('worker', async () => {
    stopped.abort();
    child?.kill('SIGTERM');
    await ended;
  });
}

const endOf = (child: ChildProcess): Promise<string> =>
  new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (status, signal) => resolve(signal ?? `status ${status}`));
  });
