// Counters by key that forget keys at zero, so that memory is bounded by the keys in use.

export class KeyedCount<K extends string = string> {
  readonly #counts = new Map<K, number>();

  /** Number of keys that are not at zero. */
  get size(): number {
    return this.#counts.size;
  }

  of(key: K): number {
    return this.#counts.get(key) ?? 0;
  }

  add(key: K, change: number): void {
    const count = this.of(key) + change;
    if (count > 0) this.#counts.set(key, count);
    else this.#counts.delete(key);
  }
}
