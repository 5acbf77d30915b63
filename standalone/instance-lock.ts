// Lock file that allows one instance per data directory, also after a kill -9. It identifies its
// holder and the holder's child processes by pid and start time, so that the next instance can end
// the processes that a dead one left running. Instances that start at once take turns by a claim.
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { messageOf } from '../src/platform/errors.js';
import { Claim, describeUse } from './instance-claim.js';
import { StartProblem } from './problem.js';
import { findProcess, isRunning, ownIdentity, type ProcessIdentity } from './process-identity.js';

export interface ChildIdentity extends ProcessIdentity {
  readonly name: string;
  readonly orphanSignal: NodeJS.Signals;
}

export interface LockFile {
  readonly holder: ProcessIdentity;
  readonly children: readonly ChildIdentity[];
}

// Time for Redis and PostgreSQL to write their data before they are killed.
const LEFTOVER_GRACE_MS = 10_000;
const RETRY_MS = 1000;

export class InstanceLock {
  readonly #directory: string;
  readonly #holder = ownIdentity();
  readonly #children = new Map<number, ChildIdentity>();
  #retry: NodeJS.Timeout | undefined;

  private constructor(directory: string) {
    this.#directory = directory;
  }

  /** Throws a StartProblem when another instance holds the lock, or takes it at the same time. */
  static async take(directory: string): Promise<InstanceLock> {
    mkdirSync(directory, { recursive: true });
    // Nothing is written beside the lock of a running instance.
    requireStale(directory);
    const claim = await Claim.take(directory);
    try {
      await endLeftovers(requireStale(directory)?.children ?? []);
      const lock = new InstanceLock(directory);
      lock.#create();
      return lock;
    } finally {
      claim.release();
    }
  }

  addChild({ name, orphanSignal }: Omit<ChildIdentity, keyof ProcessIdentity>, pid: number): void {
    const child = findProcess(pid);
    if (child === undefined) return;
    this.#children.set(pid, { name, orphanSignal, ...child });
    this.#write();
  }

  removeChild(pid: number): void {
    if (this.#children.delete(pid)) this.#write();
  }

  /** Leaves the lock of another instance alone. */
  release(): void {
    clearTimeout(this.#retry);
    const holder = tryReadLock(this.#directory)?.holder;
    const isOwn = holder?.pid === this.#holder.pid && holder.startedAt === this.#holder.startedAt;
    if (isOwn) rmSync(lockPath(this.#directory), { force: true });
  }

  #create(): void {
    try {
      this.#replace();
    } catch (error) {
      throw new StartProblem(`${this.#directory} cannot be locked: ${messageOf(error)}.`, { cause: error });
    }
  }

  #write(): void {
    clearTimeout(this.#retry);
    try {
      this.#replace();
    } catch {
      // A full disk must not stop the service: the file is written again when there is space.
      this.#retry = setTimeout(() => this.#write(), RETRY_MS).unref();
    }
  }

  /** Renames the new file into place, so that a crash cannot leave half a file. */
  #replace(): void {
    const path = lockPath(this.#directory);
    writeFileSync(`${path}.new`, this.#text(), { mode: 0o600 });
    renameSync(`${path}.new`, path);
  }

  #text(): string {
    const content: LockFile = { holder: this.#holder, children: [...this.#children.values()] };
    return JSON.stringify(content);
  }
}

/** The names of claims and of unfinished lock files begin with it, too. */
export const LOCK_FILE = 'instance.lock';

const lockPath = (directory: string): string => join(directory, LOCK_FILE);

/** The lock that a dead instance left, if there is one. Throws when its holder runs. */
function requireStale(directory: string): LockFile | undefined {
  const found = tryReadLock(directory);
  if (found !== undefined && isRunning(found.holder)) {
    throw new StartProblem(describeUse(directory, found.holder.pid));
  }
  return found;
}

/** Undefined when there is no readable lock file. */
export function tryReadLock(directory: string): LockFile | undefined {
  try {
    return JSON.parse(readFileSync(lockPath(directory), 'utf8')) as LockFile;
  } catch {
    return undefined;
  }
}

/** Ends the processes that a dead holder left running. */
export async function endLeftovers(children: readonly ChildIdentity[]): Promise<void> {
  for (const child of children.filter(isRunning)) signal(child, child.orphanSignal);
  const deadline = performance.now() + LEFTOVER_GRACE_MS;
  while (children.some(isRunning) && performance.now() < deadline) await delay(50);
  for (const child of children.filter(isRunning)) signal(child, 'SIGKILL');
  while (children.some(isRunning)) await delay(10);
}

/** The process may have ended since the check. */
function signal({ pid }: ChildIdentity, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
