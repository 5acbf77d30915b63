// Group commit: requests that arrive within a few milliseconds are stored as one job; each is
// answered when the job is stored.

export interface Commit<T> {
  /** The key that all its items have. */
  readonly key: string;
  /** Items in order of arrival. */
  readonly items: readonly T[];
  /** Sum of the items' weights. */
  readonly weight: number;
  /** Sum of the items' sizes in bytes. */
  readonly bytes: number;
}

export interface ItemSize {
  readonly weight: number;
  readonly bytes: number;
  /** Items of different keys are never stored together. */
  readonly key?: string;
}

export interface GroupLimits {
  readonly weightMax: number;
  readonly bytesMax: number;
  readonly delayMs: number;
}

interface Group<T, R> {
  readonly key: string;
  readonly items: T[];
  weight: number;
  bytes: number;
  readonly done: Promise<R>;
  readonly settle: (stored: Promise<R>) => void;
  timer: NodeJS.Timeout;
}

/** A group of this many items collects for longer: each commit costs as much as several items. */
const MANY_ITEMS = 8;
const DELAYS_OF_MANY = 4;

/**
 * One group per key is open at a time. It is committed `delayMs` after its first item, four times
 * as late when it has many items by then, or when an item reaches a limit. Each item of a group
 * gets what storing the group resolves with.
 */
export class GroupCommit<T, R = void> {
  readonly #store: (commit: Commit<T>) => Promise<R>;
  readonly #limits: GroupLimits;
  readonly #open = new Map<string, Group<T, R>>();

  constructor(store: (commit: Commit<T>) => Promise<R>, limits: GroupLimits) {
    this.#store = store;
    this.#limits = limits;
  }

  /**
   * Resolves when the item is stored. When a group fails, it rejects for every item of the group.
   */
  add(item: T, { weight, bytes, key = '' }: ItemSize): Promise<R> {
    const group = this.#open.get(key) ?? this.#start(key);
    group.items.push(item);
    group.weight += weight;
    group.bytes += bytes;
    if (group.weight >= this.#limits.weightMax || group.bytes >= this.#limits.bytesMax) this.#commit(group);
    return group.done;
  }

  #start(key: string): Group<T, R> {
    let settle: Group<T, R>['settle'] = () => {};
    const done = new Promise<R>((resolve) => {
      settle = resolve;
    });
    const timer = setTimeout(() => this.#commitUnlessMany(group), this.#limits.delayMs);
    const group: Group<T, R> = { key, items: [], weight: 0, bytes: 0, done, settle, timer };
    this.#open.set(key, group);
    return group;
  }

  #commitUnlessMany(group: Group<T, R>): void {
    if (group.items.length < MANY_ITEMS) this.#commit(group);
    else group.timer = setTimeout(() => this.#commit(group), this.#limits.delayMs * (DELAYS_OF_MANY - 1));
  }

  #commit(group: Group<T, R>): void {
    clearTimeout(group.timer);
    this.#open.delete(group.key);
    group.settle(this.#store(group));
  }
}
