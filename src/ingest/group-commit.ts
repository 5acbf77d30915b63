// Group commit: requests that arrive within the same few milliseconds go to Redis as one job, and each is answered when
// that job is stored.
import type { Frame } from './frame.js';

export interface Commit {
  readonly frames: readonly Frame[];
  readonly events: number;
}

interface Group {
  readonly frames: Frame[];
  events: number;
  readonly done: Promise<void>;
  readonly settle: (stored: Promise<void>) => void;
}

/** One group is open at a time; it is committed when it is full or `delayMs` after its first request. */
export class GroupCommit {
  readonly #store: (commit: Commit) => Promise<void>;
  readonly #eventsMax: number;
  readonly #delayMs: number;
  #open: Group | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(store: (commit: Commit) => Promise<void>, limits: { eventsMax: number; delayMs: number }) {
    this.#store = store;
    this.#eventsMax = limits.eventsMax;
    this.#delayMs = limits.delayMs;
  }

  /** Resolves when the request's events are stored; rejects for every request of a group that could not be. */
  add(frame: Frame): Promise<void> {
    const group = this.#open ?? this.#start();
    group.frames.push(frame);
    group.events += frame.header.n;
    if (group.events >= this.#eventsMax) this.#commit();
    return group.done;
  }

  #start(): Group {
    let settle: Group['settle'] = () => {};
    const done = new Promise<void>((resolve) => {
      settle = resolve;
    });
    this.#open = { frames: [], events: 0, done, settle };
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
