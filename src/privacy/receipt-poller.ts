// Waits for erasure receipts with one query for all waiting requests of this process. One query
// each would let a hundred waiting requests use up the connections that every other request needs
// for its key.
import { setTimeout as delay } from 'node:timers/promises';

const POLL_MS = 75;

interface Waiting {
  readonly deadline: number;
  readonly isGone: () => boolean;
  readonly resolve: (isErased: boolean) => void;
}

export class ReceiptPoller {
  readonly #findErased: (ids: readonly string[]) => Promise<readonly string[]>;
  readonly #waiting = new Map<string, Waiting>();
  #isPolling = false;

  /** `findErased` resolves with those of the requests that have a receipt. */
  constructor(findErased: (ids: readonly string[]) => Promise<readonly string[]>) {
    this.#findErased = findErased;
  }

  /** False on timeout, or when the client has closed its connection. Never rejects. */
  wait(id: string, { timeoutMs, isGone }: { timeoutMs: number; isGone: () => boolean }): Promise<boolean> {
    return new Promise((resolve) => {
      this.#waiting.set(id, { deadline: performance.now() + timeoutMs, isGone, resolve });
      if (!this.#isPolling) void this.#poll();
    });
  }

  async #poll(): Promise<void> {
    this.#isPolling = true;
    while (this.#waiting.size > 0) {
      // Errors are ignored: the request is stored, and its client gets 202 at the latest.
      const erased = new Set(await this.#findErased([...this.#waiting.keys()]).catch(() => []));
      for (const [id, { deadline, isGone, resolve }] of this.#waiting) {
        if (!erased.has(id) && performance.now() < deadline && !isGone()) continue;
        this.#waiting.delete(id);
        resolve(erased.has(id));
      }
      await delay(POLL_MS);
    }
    this.#isPolling = false;
  }
}
