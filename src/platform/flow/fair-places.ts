// Fair semaphore with preemption, for streams that read from ClickHouse. A free place goes to the
// project that holds the fewest, then to the one that was served longest ago. A stream yields its
// place between two chunks: to another project after a time slice, and to any waiting stream while
// its own reader is slow.
import type { ProjectId } from '../ids.js';
import { KeyedCount } from './keyed-count.js';

export interface PlaceTimes {
  /** How long a stream reads before another project gets its place. */
  readonly sliceMs: number;
  /** How long a chunk may wait for its reader before any other stream gets the place. */
  readonly lendMs: number;
}

const TIMES: PlaceTimes = { sliceMs: 2_000, lendMs: 1_000 };

interface Waiting {
  readonly projectId: ProjectId;
  readonly grant: (place: Place) => void;
}

export class FairPlaces {
  readonly #times: PlaceTimes;
  readonly #held = new KeyedCount();
  readonly #waiting = new Set<Waiting>();
  readonly #servedAt = new Map<ProjectId, number>();
  #served = 0;
  #free: number;

  constructor(places: number, times: PlaceTimes = TIMES) {
    this.#free = places;
    this.#times = times;
  }

  /** Rejects with the reason of `signal` when it is aborted first. */
  acquire(projectId: ProjectId, signal: AbortSignal): Promise<Place> {
    signal.throwIfAborted();
    return new Promise((resolve, reject) => {
      const stop = () => {
        this.#waiting.delete(waiting);
        reject(signal.reason);
      };
      const waiting: Waiting = {
        projectId,
        grant: (place) => {
          signal.removeEventListener('abort', stop);
          resolve(place);
        },
      };
      signal.addEventListener('abort', stop, { once: true });
      this.#waiting.add(waiting);
      this.#grantNext();
    });
  }

  get isAnyWaiting(): boolean {
    return this.#waiting.size > 0;
  }

  /** Whether a project is waiting that holds fewer places than this one. */
  isOwedToAnother(projectId: ProjectId): boolean {
    const own = this.#held.of(projectId);
    return [...this.#waiting].some((waiting) => this.#held.of(waiting.projectId) < own);
  }

  #grantNext(): void {
    if (this.#free === 0) return;
    const [next] = [...this.#waiting].sort((a, b) => this.#compare(a.projectId, b.projectId));
    if (next === undefined) return;
    this.#waiting.delete(next);
    this.#free -= 1;
    this.#served += 1;
    this.#servedAt.set(next.projectId, this.#served);
    this.#held.add(next.projectId, 1);
    next.grant(new Place(this, next.projectId, { ...this.#times, giveBack: () => this.#giveBack(next.projectId) }));
  }

  #giveBack(projectId: ProjectId): void {
    this.#free += 1;
    this.#held.add(projectId, -1);
    if (this.#held.size === 0 && this.#waiting.size === 0) this.#servedAt.clear();
    this.#grantNext();
  }

  #compare(a: ProjectId, b: ProjectId): number {
    return this.#held.of(a) - this.#held.of(b) || (this.#servedAt.get(a) ?? 0) - (this.#servedAt.get(b) ?? 0);
  }
}

export class Place {
  readonly #places: FairPlaces;
  readonly #projectId: ProjectId;
  readonly #times: PlaceTimes & { readonly giveBack: () => void };
  readonly #since = performance.now();
  readonly #lost = new AbortController();
  #isHeld = true;
  #lending: NodeJS.Timeout | undefined;

  constructor(places: FairPlaces, projectId: ProjectId, times: PlaceTimes & { readonly giveBack: () => void }) {
    this.#places = places;
    this.#projectId = projectId;
    this.#times = times;
  }

  /** Aborted when another stream got the place while it was lent; the read must stop. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** Call before handing a chunk to the reader: after lendMs another stream may take the place. */
  lend(): void {
    this.#lending = setInterval(() => {
      if (!this.#places.isAnyWaiting) return;
      this.release();
      this.#lost.abort(new Error('the place went to another stream'));
    }, this.#times.lendMs);
  }

  /**
   * Call after the reader took the chunk. False when the stream must stop reading and acquire a
   * place again.
   */
  takeBack(): boolean {
    clearInterval(this.#lending);
    const isSliceOver = performance.now() - this.#since >= this.#times.sliceMs;
    return this.#isHeld && !(isSliceOver && this.#places.isOwedToAnother(this.#projectId));
  }

  /** Idempotent. */
  release(): void {
    clearInterval(this.#lending);
    if (!this.#isHeld) return;
    this.#isHeld = false;
    this.#times.giveBack();
  }
}
