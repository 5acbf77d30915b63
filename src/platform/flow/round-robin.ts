// Round-robin queue over keys, each first in, first out. One key with many items delays another by
// at most one item per waiting key. Items of a key may have kinds: then items of one kind follow
// each other.
import { KeyedCount } from './keyed-count.js';

export class RoundRobin<T> {
  /** By key in round-robin order, and by kind in order of arrival. None is empty. */
  readonly #queues = new Map<string, Map<string, T[]>>();
  readonly #counts = new KeyedCount();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get isEmpty(): boolean {
    return this.#size === 0;
  }

  /** Waiting items of the key. */
  countOf(key: string): number {
    return this.#counts.of(key);
  }

  push(key: string, item: T, kind = ''): void {
    const kinds = this.#queues.get(key) ?? new Map<string, T[]>();
    this.#queues.set(key, kinds);
    const items = kinds.get(kind);
    if (items === undefined) kinds.set(kind, [item]);
    else items.push(item);
    this.#counts.add(key, 1);
    this.#size += 1;
  }

  /** The item that `shift` returns next. */
  peek(): T | undefined {
    return this.#next()?.items[0];
  }

  /** The oldest item of the first key that `mayHaveTurn` accepts; that key moves to the end. */
  shift(mayHaveTurn?: (key: string) => boolean): T | undefined {
    const next = this.#next(mayHaveTurn);
    if (next === undefined) return undefined;
    const { key, kinds, kind, items } = next;
    const item = items.shift();
    if (items.length === 0) kinds.delete(kind);
    this.#queues.delete(key);
    if (kinds.size > 0) this.#queues.set(key, kinds);
    this.#counts.add(key, -1);
    this.#size -= 1;
    return item;
  }

  #next(mayHaveTurn?: (key: string) => boolean) {
    for (const [key, kinds] of this.#queues) {
      if (mayHaveTurn !== undefined && !mayHaveTurn(key)) continue;
      for (const [kind, items] of kinds) return { key, kinds, kind, items };
    }
    return undefined;
  }
}

/**
 * The first item of every key, then the second of every key with more; keeps the order within a
 * key.
 */
export function interleave<T>(items: readonly T[], keyOf: (item: T) => string): T[] {
  const queue = new RoundRobin<T>();
  for (const item of items) queue.push(keyOf(item), item);
  return items.map(() => queue.shift() as T);
}
