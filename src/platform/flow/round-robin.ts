// Round-robin queue over keys, each first in, first out. One key with many items delays another by
// at most one item per waiting key. Items of a key may have kinds: then items of one kind follow
// each other.

export class RoundRobin<T> {
  /** By key in round-robin order, and by kind in order of arrival. None is empty. */
  readonly #queues = new Map<string, Map<string, T[]>>();

  get isEmpty(): boolean {
    return this.#queues.size === 0;
  }

  push(key: string, item: T, kind = ''): void {
    const kinds = this.#queues.get(key) ?? new Map<string, T[]>();
    this.#queues.set(key, kinds);
    const items = kinds.get(kind);
    if (items === undefined) kinds.set(kind, [item]);
    else items.push(item);
  }

  /** The item that `shift` returns next. */
  peek(): T | undefined {
    return this.#next()?.items[0];
  }

  shift(): T | undefined {
    const next = this.#next();
    if (next === undefined) return undefined;
    const { key, kinds, kind, items } = next;
    const item = items.shift();
    if (items.length === 0) kinds.delete(kind);
    // The next key follows.
    this.#queues.delete(key);
    if (kinds.size > 0) this.#queues.set(key, kinds);
    return item;
  }

  #next() {
    for (const [key, kinds] of this.#queues) {
      for (const [kind, items] of kinds) return { key, kinds, kind, items };
    }
    return undefined;
  }
}
