// Weighted semaphore over bytes: bounds how much request data one process holds. acquire() queues, tryAcquire() does not.

interface Waiter {
  readonly bytes: number;
  readonly enter: () => void;
}

/** Every acquired byte must be released. */
export class ByteBudget {
  readonly #bytesMax: number;
  #held = 0;
  #waiting: Waiter[] = [];

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Returns false, without acquiring, when the bytes do not fit. */
  tryTake(bytes: number): boolean {
    if (this.#held + bytes > this.#bytesMax) return false;
    this.#held += bytes;
    return true;
  }

  /** Resolves in order of arrival. A weight above the limit is admitted when nothing else is held. */
  async take(bytes: number): Promise<void> {
    if (this.#waiting.length === 0 && this.#fits(bytes)) this.#held += bytes;
    else await new Promise<void>((resolve) => this.#waiting.push({ bytes, enter: resolve }));
  }

  give(bytes: number): void {
    this.#held -= bytes;
    for (let next = this.#waiting[0]; next !== undefined && this.#fits(next.bytes); next = this.#waiting[0]) {
      this.#waiting.shift();
      this.#held += next.bytes;
      next.enter();
    }
  }

  #fits(bytes: number): boolean {
    return this.#held === 0 || this.#held + bytes <= this.#bytesMax;
  }
}
