// Isolates permanently rejected items of a batch by bisection, so that all other items are stored.

export interface BisectableStore<T> {
  /** Stores all items or none. */
  readonly store: (items: readonly T[]) => Promise<void>;
  /** Whether the items caused a failure of `store` (permanent). */
  readonly isRefused: (error: unknown) => boolean;
}

/**
 * Stores items in order and resolves with the rejected ones, in order. Transient failures are
 * thrown; the whole call may then be repeated.
 */
export async function bisectFailures<T>(items: readonly T[], into: BisectableStore<T>): Promise<readonly T[]> {
  try {
    await into.store(items);
    return [];
  } catch (error) {
    if (!into.isRefused(error)) throw error;
    if (items.length <= 1) return items;
  }
  const middle = Math.ceil(items.length / 2);
  const refused = await bisectFailures(items.slice(0, middle), into);
  return [...refused, ...(await bisectFailures(items.slice(middle), into))];
}
