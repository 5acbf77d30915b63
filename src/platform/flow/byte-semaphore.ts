// Weighted semaphore over bytes: bounds how much request data one process holds. acquire() queues,
// tryAcquire() does not. Not async-mutex, whose release loops over every free unit
// (docs/decisions/0012).
import { isBeyondShare } from './fair-share.js';
import { KeyedCount } from './keyed-count.js';
import { RoundRobin } from './round-robin.js';

interface Waiter {
  readonly bytes: number;
  readonly enter: () => void;
}

/** Every acquired byte must be released. */
export class ByteSemaphore {
  #bytesMax: number;
  #held = 0;
  readonly #heldBy = new KeyedCount();
  readonly #waiting = new RoundRobin<Waiter>();

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** What is held above a lower limit stays held until it is released. */
  set bytesMax(bytes: number) {
    this.#bytesMax = bytes;
    this.#admitWaiting();
  }

  /** How much can still be acquired at once. */
  get free(): number {
    return this.#bytesMax - this.#held;
  }

  /**
   * Returns false, without acquiring, when the bytes do not fit, or would be more than the owner's
   * share.
   */
  tryAcquire(bytes: number, owner: string): boolean {
    const owned = this.#heldBy.of(owner) + bytes;
    if (bytes > this.free || isBeyondShare(owned, this.free - bytes)) return false;
    this.#held += bytes;
    this.#heldBy.add(owner, bytes);
    return true;
  }

  /** Releases bytes of `tryAcquire`. */
  giveBack(bytes: number, owner: string): void {
    this.#heldBy.add(owner, -bytes);
    this.release(bytes);
  }

  /**
   * Callers of one key enter in order of arrival, and the keys take turns. A weight above the limit
   * is admitted when nothing else is held.
   */
  async acquire(bytes: number, key = ''): Promise<void> {
    if (this.#waiting.isEmpty && this.#fits(bytes)) this.#held += bytes;
    else await new Promise<void>((resolve) => this.#waiting.push(key, { bytes, enter: resolve }));
  }

  release(bytes: number): void {
    this.#held -= bytes;
    this.#admitWaiting();
  }

  #admitWaiting(): void {
    for (let next = this.#waiting.peek(); next !== undefined && this.#fits(next.bytes); next = this.#waiting.peek()) {
      this.#waiting.shift();
      this.#held += next.bytes;
      next.enter();
    }
  }

  #fits(bytes: number): boolean {
    return this.#held === 0 || bytes <= this.free;
  }
}
