// Round-robin scheduler over keys: a bounded number of places, one per key; the key that was served
// longest ago is next. A project with a thousand requests gets as many places as one with a single
// request.

export class KeyRotation {
  readonly #places: number;
  readonly #running = new Map<string, Promise<void>>();
  readonly #servedAt = new Map<string, number>();
  #served = 0;

  constructor(places: number) {
    this.#places = places;
  }

  get running(): readonly string[] {
    return [...this.#running.keys()];
  }

  /** Starts `work` for as many of the keys as there are free places. `work` must not reject. */
  start<P extends string>(waiting: Iterable<P>, work: (key: P) => Promise<void>): number {
    const next = [...waiting]
      .filter((key) => !this.#running.has(key))
      .sort((a, b) => (this.#servedAt.get(a) ?? 0) - (this.#servedAt.get(b) ?? 0))
      .slice(0, this.#places - this.#running.size);
    for (const key of next) {
      this.#served += 1;
      this.#servedAt.set(key, this.#served);
      this.#running.set(
        key,
        work(key).finally(() => this.#running.delete(key)),
      );
    }
    return next.length;
  }

  /** Resolves when any running task has ended; never when none runs. */
  oneEnded(): Promise<void> {
    return Promise.race(this.#running.values());
  }

  async allEnded(): Promise<void> {
    await Promise.all(this.#running.values());
  }
}
