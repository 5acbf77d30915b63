// How many bytes of what others have sent a process holds at the same time. Whoever wants more is refused or waits, as the caller
// likes, so that memory is bounded by a number and not by how much comes at once.

interface Waiter {
  readonly bytes: number;
  readonly enter: () => void;
}

/** Whatever was taken has to be given back. */
export class ByteBudget {
  readonly #bytesMax: number;
  #held = 0;
  #waiting: Waiter[] = [];

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Takes nothing and returns false when there is no room. */
  tryTake(bytes: number): boolean {
    if (this.#held + bytes > this.#bytesMax) return false;
    this.#held += bytes;
    return true;
  }

  /** Resolves when there is room, in the order of asking. What is larger than the whole budget is taken when nothing else is. */
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
