// Group commit: requests that arrive within a few milliseconds are stored as one job; each is answered when the job is
// stored.

export interface Commit<T> {
  /** In order of arrival. */
  readonly items: readonly T[];
  /** Sum of the items' weights. */
  readonly weight: number;
  /** Sum of the items' sizes in bytes. */
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

/** One group is open at a time. It is committed `delayMs` after its first item, or when an item reaches a limit. */
export class GroupCommit<T> {
  readonly #store: (commit: Commit<T>) => Promise<void>;
  readonly #limits: GroupLimits;
  #open: Group<T> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(store: (commit: Commit<T>) => Promise<void>, limits: GroupLimits) {
    this.#store = store;
    this.#limits = limits;
  }

  /** Resolves when the item is stored. When a group fails, it rejects for every item of the group. */
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
