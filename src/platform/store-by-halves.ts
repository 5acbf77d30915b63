// Isolates permanently rejected items of a batch by bisection, so that all other items are stored.

export interface HalvingStore<T> {
  /** Stores all items or none. */
  readonly store: (items: readonly T[]) => Promise<void>;
  /** Whether the items caused a failure of `store` (permanent). */
  readonly isRefused: (error: unknown) => boolean;
}

/**
 * Stores items in order and resolves with the rejected ones, in order. Transient failures are thrown; the whole call may
 * then be repeated.
 */
export async function storeByHalves<T>(items: readonly T[], into: HalvingStore<T>): Promise<readonly T[]> {
  try {
    await into.store(items);
    return [];
  } catch (error) {
    if (!into.isRefused(error)) throw error;
    if (items.length <= 1) return items;
  }
  const middle = Math.ceil(items.length / 2);
  const refused = await storeByHalves(items.slice(0, middle), into);
  return [...refused, ...(await storeByHalves(items.slice(middle), into))];
}
