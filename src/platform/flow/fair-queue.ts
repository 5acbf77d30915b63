// Bounded round-robin queue over owners: however many items one owner has waiting, the next owner's
// first item is taken after one of them.

export interface QueueLimits {
  readonly itemsMax: number;
  readonly perOwnerMax: number;
}

export class FairQueue<T> {
  readonly #limits: QueueLimits;
  /** In round-robin order; owners without items are removed. */
  readonly #itemsOf = new Map<string, T[]>();
  #size = 0;

  constructor(limits: QueueLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#size;
  }

  /** When there is no room, adds nothing and returns the limit that is reached. */
  tryAdd(owner: string, item: T): 'added' | 'owner is full' | 'queue is full' {
    const items = this.#itemsOf.get(owner) ?? [];
    if (items.length >= this.#limits.perOwnerMax) return 'owner is full';
    if (this.#size >= this.#limits.itemsMax) return 'queue is full';
    items.push(item);
    this.#itemsOf.set(owner, items);
    this.#size += 1;
    return 'added';
  }

  /** The oldest item of the first owner that `mayHaveTurn` accepts; that owner moves to the end. */
  take(mayHaveTurn: (owner: string) => boolean): { owner: string; item: T } | undefined {
    for (const [owner, items] of this.#itemsOf) {
      if (!mayHaveTurn(owner)) continue;
      const [item] = items.splice(0, 1) as [T];
      this.#itemsOf.delete(owner);
      if (items.length > 0) this.#itemsOf.set(owner, items);
      this.#size -= 1;
      return { owner, item };
    }
    return undefined;
  }

  /** Empties the queue. */
  drain(): T[] {
    const items = [...this.#itemsOf.values()].flat();
    this.#itemsOf.clear();
    this.#size = 0;
    return items;
  }
}
