// Group commit: requests that arrive within the same few milliseconds go to Redis as one job, and each is answered when
// that job is stored.

export interface Commit<T> {
  /** In the order in which they were added. */
  readonly items: readonly T[];
  /** The sum of what the items weigh. */
  readonly weight: number;
}

interface Group<T> {
  readonly items: T[];
  weight: number;
  readonly done: Promise<void>;
  readonly settle: (stored: Promise<void>) => void;
}

/** One group is open at a time; it is committed when it weighs enough or `delayMs` after its first item. */
export class GroupCommit<T> {
  readonly #store: (commit: Commit<T>) => Promise<void>;
  readonly #weightMax: number;
  readonly #delayMs: number;
  #open: Group<T> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(store: (commit: Commit<T>) => Promise<void>, limits: { weightMax: number; delayMs: number }) {
    this.#store = store;
    this.#weightMax = limits.weightMax;
    this.#delayMs = limits.delayMs;
  }

  /** Resolves when the item is stored; rejects for every item of a group that could not be. */
  add(item: T, weight = 1): Promise<void> {
    const group = this.#open ?? this.#start();
    group.items.push(item);
    group.weight += weight;
    if (group.weight >= this.#weightMax) this.#commit();
    return group.done;
  }

  #start(): Group<T> {
    let settle: Group<T>['settle'] = () => {};
    const done = new Promise<void>((resolve) => {
      settle = resolve;
    });
    this.#open = { items: [], weight: 0, done, settle };
    this.#timer = setTimeout(() => this.#commit(), this.#delayMs);
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
