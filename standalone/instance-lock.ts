// Lock file that allows one instance per data directory, also after a kill -9. It identifies its
// holder and the holder's child processes by pid and start time, so that the next instance can end
// the processes that a dead one left running.
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { reasonOf, StartProblem } from './problem.js';
import { findProcess, isRunning, type ProcessIdentity } from './process-identity.js';

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
  readonly #path: string;
  readonly #holder: ProcessIdentity;
  readonly #children = new Map<number, ChildIdentity>();
  #retry: NodeJS.Timeout | undefined;

  private constructor(path: string, holder: ProcessIdentity) {
    this.#path = path;
    this.#holder = holder;
  }

  /** Throws a StartProblem when another instance holds the lock. */
  static async take(directory: string): Promise<InstanceLock> {
    mkdirSync(directory, { recursive: true });
    const path = lockPath(directory);
    const previous = tryReadLock(directory);
    if (previous !== undefined && isRunning(previous.holder)) {
      throw new StartProblem(`${directory} is in use by another instance (process ${previous.holder.pid}).`);
    }
    if (previous !== undefined) await endLeftovers(previous.children);
    const holder = findProcess(process.pid) ?? { pid: process.pid, startedAt: '' };
    const lock = new InstanceLock(path, holder);
    lock.#create(directory);
    return lock;
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

  release(): void {
    clearTimeout(this.#retry);
    rmSync(this.#path, { force: true });
  }

  /**
   * Renaming the stale lock is atomic: of several instances that find it, exactly one succeeds, and
   * the others see the new lock.
   */
  #create(directory: string): void {
    try {
      renameSync(this.#path, `${this.#path}.stale`);
    } catch {
      // There was no lock.
    }
    try {
      writeFileSync(this.#path, this.#text(), { flag: 'wx', mode: 0o600 });
    } catch (error) {
      throw new StartProblem(`${directory} cannot be locked: ${reasonOf(error)}.`, { cause: error });
    }
    rmSync(`${this.#path}.stale`, { force: true });
  }

  #write(): void {
    clearTimeout(this.#retry);
    try {
      // Renamed into place, so that a crash cannot leave half a file.
      writeFileSync(`${this.#path}.new`, this.#text(), { mode: 0o600 });
      renameSync(`${this.#path}.new`, this.#path);
    } catch {
      // A full disk must not stop the service: the file is written again when there is space.
      this.#retry = setTimeout(() => this.#write(), RETRY_MS).unref();
    }
  }

  #text(): string {
    const content: LockFile = { holder: this.#holder, children: [...this.#children.values()] };
    return JSON.stringify(content);
  }
}

export const LOCK_FILE = 'instance.lock';

const lockPath = (directory: string): string => join(directory, LOCK_FILE);

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
  for (const child of children.filter(isRunning)) process.kill(child.pid, child.orphanSignal);
  const deadline = Date.now() + LEFTOVER_GRACE_MS;
  while (children.some(isRunning) && Date.now() < deadline) await delay(50);
  for (const child of children.filter(isRunning)) process.kill(child.pid, 'SIGKILL');
  while (children.some(isRunning)) await delay(10);
}
