// Concurrency limit of the large inserts of a process, of all shards together. An insert costs the
// same for few rows as for some thousand, so while one shard writes, the batches of the others
// grow: three servers on the cores of one would otherwise get three times as many inserts.
export interface LargeWritesOptions {
  readonly max: number;
  /** Afterwards a place is free again: a server that does not answer holds up no other. */
  readonly holdMs: number;
}

export class LargeWrites {
  readonly #options: LargeWritesOptions;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(options: LargeWritesOptions) {
    this.#options = options;
  }

  /** First in, first out. Resolves with what gives the place back, which may be called again. */
  async enter(): Promise<() => void> {
    if (this.#running < this.#options.max) this.#running += 1;
    else await new Promise<void>((resolve) => void this.#waiting.push(resolve));
    let isHeld = true;
    const leave = (): void => {
      clearTimeout(timer);
      if (!isHeld) return;
      isHeld = false;
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    };
    const timer = setTimeout(leave, this.#options.holdMs);
    timer.unref();
    return leave;
  }
}
