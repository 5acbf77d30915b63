// Engines of a data directory whose service does not run, started for one command and stopped
// afterwards.
import { type DataDirectory, readOrCreateSecrets } from '../data-directory.js';
import { findFreePort } from '../free-port.js';
import type { InstanceLock } from '../instance-lock.js';
import { type EmbeddedPostgres, embeddedPostgres } from '../postgres-server.js';
import { StartProblem } from '../problem.js';
import { type ProcessSpec, SupervisedProcess } from '../supervised-process.js';

// Only what replaces it at the next start.
const NO_OBSERVER = { line: () => {}, restarting: () => {} };
const STARTS_MAX = 3;

/**
 * Runs an engine on a free port, and starts it again on another one when it does not become ready:
 * a port that was free may be taken before the engine has bound it. The process is in the lock
 * file, so that the next command can end it after a kill.
 */
export async function whileRunning<Server extends { readonly spec: ProcessSpec }, T>(
  serverOn: (port: number) => Server | Promise<Server>,
  lock: InstanceLock,
  run: (server: Server) => Promise<T>,
): Promise<T> {
  for (let starts = 1; ; starts += 1) {
    const server = await serverOn(await findFreePort());
    const running = new SupervisedProcess(server.spec, {
      ...NO_OBSERVER,
      started: (started, pid) => lock.addChild(started, pid),
      ended: (_name, pid) => lock.removeChild(pid),
    });
    try {
      if (!(await isStarted(running, starts))) continue;
      return await run(server);
    } finally {
      await running.stop();
    }
  }
}

/** False when it did not become ready and may be started again. */
async function isStarted(running: SupervisedProcess, starts: number): Promise<boolean> {
  try {
    await running.start();
    return true;
  } catch (error) {
    if (starts === STARTS_MAX || !(error instanceof StartProblem)) throw error;
    return false;
  }
}

/** The cluster of a data directory, on a port. It is created when there is none. */
export function postgresOf(directory: DataDirectory): (port: number) => Promise<EmbeddedPostgres> {
  const secrets = readOrCreateSecrets(directory);
  return (port) =>
    embeddedPostgres({
      ...{ directory: directory.postgres, port },
      ...{ superuserPassword: secrets.postgresPassword, password: secrets.postgresServicePassword },
    });
}
