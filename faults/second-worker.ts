// A second worker beside that of the stack, whose wall clock can be stepped. Started again when it
// ends, as the supervisor does with the others.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { packageRoot, SERVICE_ENVIRONMENT_FILE } from '../src/platform/paths.js';
import { findFreePort } from '../standalone/free-port.js';

const RESTART_MS = 500;

export interface SecondWorker {
  /** Undefined while it restarts. */
  readonly pid: number | undefined;
  stop(): Promise<void>;
}

/** `more`: settings beside those that the stack keeps for operators. */
export function startSecondWorker(dataDirectory: string, more: Readonly<Record<string, string>>): SecondWorker {
  const kept = JSON.parse(readFileSync(join(dataDirectory, SERVICE_ENVIRONMENT_FILE), 'utf8'));
  const settings = { ...kept, ...more };
  let [pid, isStopping]: [number | undefined, boolean] = [undefined, false];
  const runOnce = async (): Promise<void> => {
    const args = ['--import', join(packageRoot, 'dist/faults/stepped-clock.js'), 'dist/processes/worker.js'];
    const env = { PATH: process.env.PATH, ...settings, WORKER_PORT: String(await findFreePort()) };
    // stop() has found no process to kill.
    if (isStopping) return;
    const child = spawn(process.execPath, args, { cwd: packageRoot, env, stdio: 'ignore' });
    pid = child.pid;
    await new Promise((resolve) => child.once('exit', resolve).once('error', resolve));
    pid = undefined;
  };
  const ended = (async () => {
    while (!isStopping) {
      await runOnce();
      if (!isStopping) await delay(RESTART_MS);
    }
  })();
  const kill = (): void => {
    isStopping = true;
    if (pid === undefined) return;
    // A process that is paused ends only when it goes on.
    process.kill(pid, 'SIGCONT');
    process.kill(pid, 'SIGKILL');
  };
  // Interrupted runs exit, and the worker would go on.
  process.once('exit', kill);
  return {
    get pid() {
      return pid;
    },
    async stop() {
      kill();
      await ended;
      process.off('exit', kill);
    },
  };
}
