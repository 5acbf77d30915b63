// Runs work that is claimed from a store, several pieces at a time: claims one after another, so
// that an idle store is asked once, over one connection.

import { setTimeout as delay } from 'node:timers/promises';

/** While pieces run, what has become due meanwhile is claimed after this time. */
const CLAIM_AGAIN_MS = 1_000;

export interface ClaimedWork<T> {
  /** Undefined when nothing is due. A rejection ends the run, after the pieces that have begun. */
  readonly claim: () => Promise<T | undefined>;
  /** A rejection likewise. */
  readonly work: (piece: T) => Promise<void>;
  readonly concurrency: number;
  /** Aborted: nothing more is claimed. */
  readonly signal: AbortSignal;
}

/** Resolves when nothing is due, and all that was claimed has been worked on. */
export async function runClaimed<T>({ claim, work, concurrency, signal }: ClaimedWork<T>): Promise<void> {
  const running = new Set<Promise<void>>();
  const failures: unknown[] = [];
  const fail = (error: unknown): undefined => void failures.push(error);
  while (!signal.aborted && failures.length === 0) {
    const piece = await claim().catch(fail);
    if (piece === undefined) {
      // The end of a piece may make another one due.
      if (running.size === 0) break;
      await Promise.race([...running, delay(CLAIM_AGAIN_MS, undefined, { ref: false })]);
      continue;
    }
    const done: Promise<void> = work(piece)
      .catch(fail)
      .finally(() => running.delete(done));
    running.add(done);
    if (running.size >= concurrency) await Promise.race(running);
  }
  await Promise.all(running);
  if (failures.length > 0) throw failures[0];
}
