// Round-robin scheduler over projects: a bounded number of places, one per project; the project
// that was served longest ago is next. A project with a thousand requests gets as many places as
// one with a single request.

/**
 * Interleaves: the first item of every key, then the second of every key with more. Keeps the order
 * within a key.
 */
export function roundRobin<T>(items: readonly T[], keyOf: (item: T) => string): T[] {
  const seen = new Map<string, number>();
  const rounds: T[][] = [];
  for (const item of items) {
    const round = seen.get(keyOf(item)) ?? 0;
    seen.set(keyOf(item), round + 1);
    rounds[round] ??= [];
    rounds[round].push(item);
  }
  return rounds.flat();
}

export class ProjectRotation {
  readonly #places: number;
  readonly #running = new Map<string, Promise<void>>();
  readonly #servedAt = new Map<string, number>();
  #served = 0;

  constructor(places: number) {
    this.#places = places;
  }

  get running(): readonly string[] {
    return [...this.#running.keys()];
  }

  /** Starts `work` for as many of the projects as there are free places. `work` must not reject. */
  start<P extends string>(waiting: Iterable<P>, work: (projectId: P) => Promise<void>): number {
    const next = [...waiting]
      .filter((projectId) => !this.#running.has(projectId))
      .sort((a, b) => (this.#servedAt.get(a) ?? 0) - (this.#servedAt.get(b) ?? 0))
      .slice(0, this.#places - this.#running.size);
    for (const projectId of next) {
      this.#served += 1;
      this.#servedAt.set(projectId, this.#served);
      this.#running.set(
        projectId,
        work(projectId).finally(() => this.#running.delete(projectId)),
      );
    }
    return next.length;
  }

  /** Resolves when any running task has ended; never when none runs. */
  oneEnded(): Promise<void> {
    return Promise.race(this.#running.values());
  }

  async allEnded(): Promise<void> {
    await Promise.all(this.#running.values());
  }
}
