// Group commit: requests that arrive within a few milliseconds are stored as one job; each is
// answered when the job is stored.

export interface Commit<T> {
  /** That of all its items. */
  readonly key: string;
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
  /** Items of different keys are never stored together. */
  readonly key?: string;
}

export interface GroupLimits {
  readonly weightMax: number;
  readonly bytesMax: number;
  readonly delayMs: number;
}

interface Group<T> {
  readonly key: string;
  readonly items: T[];
  weight: number;
  bytes: number;
  readonly done: Promise<void>;
  readonly settle: (stored: Promise<void>) => void;
  readonly timer: NodeJS.Timeout;
}

/**
 * One group per key is open at a time. It is committed `delayMs` after its first item, or when an
 * item reaches a limit.
 */
export class GroupCommit<T> {
  readonly #store: (commit: Commit<T>) => Promise<void>;
  readonly #limits: GroupLimits;
  readonly #open = new Map<string, Group<T>>();

  constructor(store: (commit: Commit<T>) => Promise<void>, limits: GroupLimits) {
    this.#store = store;
    this.#limits = limits;
  }

  /**
   * Resolves when the item is stored. When a group fails, it rejects for every item of the group.
   */
  add(item: T, { weight, bytes, key = '' }: ItemSize): Promise<void> {
    const group = this.#open.get(key) ?? this.#start(key);
    group.items.push(item);
    group.weight += weight;
    group.bytes += bytes;
    if (group.weight >= this.#limits.weightMax || group.bytes >= this.#limits.bytesMax) this.#commit(group);
    return group.done;
  }

  #start(key: string): Group<T> {
    let settle: Group<T>['settle'] = () => {};
    const done = new Promise<void>((resolve) => {
      settle = resolve;
    });
    const timer = setTimeout(() => this.#commit(group), this.#limits.delayMs);
    const group: Group<T> = { key, items: [], weight: 0, bytes: 0, done, settle, timer };
    this.#open.set(key, group);
    return group;
  }

  #commit(group: Group<T>): void {
    clearTimeout(group.timer);
    this.#open.delete(group.key);
    group.settle(this.#store(group));
  }
}
