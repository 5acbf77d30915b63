// Delayed write: what is noted within a short time is written together, so that it costs a request
// nothing. A process that crashes loses what it has not written yet.

/** Idle until something is noted, then waiting for the write. */
export class DelayedWrite {
  readonly #delayMs: number;
  readonly #write: () => Promise<void>;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();

  /** `write` writes everything that was noted before it is called, and never rejects. */
  constructor(delayMs: number, write: () => Promise<void>) {
    this.#delayMs = delayMs;
    this.#write = write;
  }

  /** Call it after noting something. */
  schedule(): void {
    this.#timer ??= setTimeout(() => this.#begin(), this.#delayMs);
  }

  /** Resolves when everything noted has been written, or the write has failed. */
  async close(): Promise<void> {
    if (this.#timer !== undefined) this.#begin();
    await this.#running;
  }

  #begin(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const before = this.#running;
    this.#running = this.#write().then(() => before);
  }
}
