// Mutual exclusion of instances that take the lock of one data directory at once. Each writes a
// file of its own, whose name identifies its process, and looks for others afterwards: of two, at
// least one sees the other. One shared file would not do: two instances that find it left by a dead
// process would both remove it, the second one the fresh file of the first.
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { messageOf } from '../src/platform/errors.js';
import { StartProblem } from './problem.js';
import { isRunning, ownIdentity, type ProcessIdentity } from './process-identity.js';

const PREFIX = 'instance.lock.claim.';
const POLL_MS = 20;

export const describeUse = (directory: string, pid: number): string =>
  `${directory} is in use by another instance (process ${pid}).`;

let claims = 0;

export class Claim {
  readonly #path: string;

  private constructor(path: string) {
    this.#path = path;
  }

  /**
   * Resolves when no other running process has a claim. The one whose name sorts first waits for
   * the others; they throw a StartProblem.
   */
  static async take(directory: string): Promise<Claim> {
    claims += 1;
    const name = claimName(ownIdentity(), String(claims));
    const claim = new Claim(join(directory, name));
    try {
      writeFileSync(claim.#path, '', { flag: 'wx', mode: 0o600 });
    } catch (error) {
      throw new StartProblem(`${directory} cannot be locked: ${messageOf(error)}.`, { cause: error });
    }
    try {
      for (;;) {
        const others = runningClaims(directory).filter((other) => other !== name);
        if (others.length === 0) return claim;
        const winner = others.find((other) => other < name);
        if (winner !== undefined) throw new StartProblem(describeUse(directory, identityOf(winner).pid));
        await delay(POLL_MS);
      }
    } catch (error) {
      claim.release();
      throw error;
    }
  }

  release(): void {
    rmSync(this.#path, { force: true });
  }
}

/** `suffix`: a process may make several claims. */
export const claimName = ({ pid, startedAt }: ProcessIdentity, suffix: string): string =>
  `${PREFIX}${pid}.${encodeURIComponent(startedAt)}.${suffix}`;

function identityOf(name: string): ProcessIdentity {
  const [pid, startedAt = ''] = name.slice(PREFIX.length).split('.');
  return { pid: Number(pid), startedAt: decodeURIComponent(startedAt) };
}

/** Removes the claims of dead processes: no other process ever has their names. */
function runningClaims(directory: string): readonly string[] {
  const names = readdirSync(directory).filter((name) => name.startsWith(PREFIX));
  const dead = names.filter((name) => !isRunning(identityOf(name)));
  for (const name of dead) rmSync(join(directory, name), { force: true });
  return names.filter((name) => !dead.includes(name));
}
