// Keeps a few requests under way at once and no more, so that reading waits for sending and memory stays constant.

/**
 * Open: takes tasks. Failed: after the first failure every `push` and `drain` throws it, once what is under way has
 * ended, so that the counts of what was accepted are complete.
 */
export class InFlight {
  readonly #running = new Set<Promise<void>>();
  readonly #tasksMax: number;
  #failure: { readonly cause: unknown } | undefined;

  constructor(tasksMax: number) {
    this.#tasksMax = tasksMax;
  }

  /** Resolves when the task has been started, which is when fewer than the allowed number are under way. */
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
