// Group commit: requests that arrive within the same few milliseconds go to Redis as one job, and each is answered when
// that job is stored.

export interface Commit<T> {
  /** In the order in which they were added. */
  readonly items: readonly T[];
  /** The sum of what the items weigh. */
  readonly weight: number;
  /** The sum of their sizes. */
  readonly bytes: number;
}

export interface ItemSize {
  readonly weight: number;
  readonly bytes: number;
}

export interface GroupLimits {
  readonly weightMax: number;
  readonly bytesMax: number;
  readonly delayMs: number;
}

interface Group<T> {
  readonly items: T[];
  weight: number;
  bytes: number;
  readonly done: Promise<void>;
  readonly settle: (stored: Promise<void>) => void;
}

/** One group is open at a time; it is committed `delayMs` after its first item, or with the item that brings it to a limit. */
export class GroupCommit<T> {
  readonly #store: (commit: Commit<T>) => Promise<void>;
  readonly #limits: GroupLimits;
  #open: Group<T> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(store: (commit: Commit<T>) => Promise<void>, limits: GroupLimits) {
    this.#store = store;
    this.#limits = limits;
  }

  /** Resolves when the item is stored; rejects for every item of a group that could not be. */
  add(item: T, { weight, bytes }: ItemSize): Promise<void> {
    const group = this.#open ?? this.#start();
    group.items.push(item);
    group.weight += weight;
    group.bytes += bytes;
    if (group.weight >= this.#limits.weightMax || group.bytes >= this.#limits.bytesMax) this.#commit();
    return group.done;
  }

  #start(): Group<T> {
    let settle: Group<T>['settle'] = () => {};
    const done = new Promise<void>((resolve) => {
      settle = resolve;
    });
    this.#open = { items: [], weight: 0, bytes: 0, done, settle };
    this.#timer = setTimeout(() => this.#commit(), this.#limits.delayMs);
    return this.#open;
  }

  #commit(): void {
    const group = this.#open;
    if (group === undefined) return;
    clearTimeout(this.#timer);
    this.#open = undefined;
    group.settle(this.#store(group));
  }
}
