// Concurrency limit with backpressure: reading waits for sending, so memory stays constant. Faster
// than p-queue, without its two other packages (docs/decisions/0012).

/**
 * Open: accepts tasks. Failed: after the first failure, `push` and `drain` wait for running tasks
 * and throw it, so that the counters are complete.
 */
export class ConcurrencyLimit {
  readonly #running = new Set<Promise<void>>();
  readonly #tasksMax: number;
  #failure: { readonly cause: unknown } | undefined;

  constructor(tasksMax: number) {
    this.#tasksMax = tasksMax;
  }

  /**
   * Resolves when the task has started, that is, when fewer than the allowed number are running.
   */
  async push(task: () => Promise<void>): Promise<void> {
    while (this.#running.size >= this.#tasksMax) await Promise.race(this.#running);
    if (this.#failure !== undefined) await this.drain();
    const running = task()
      .catch((cause: unknown) => {
        this.#failure ??= { cause };
      })
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  async drain(): Promise<void> {
    await Promise.all(this.#running);
    if (this.#failure !== undefined) throw this.#failure.cause;
  }
}
