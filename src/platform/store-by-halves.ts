// What a store refuses is found by halving, so that it alone is set aside and everything beside it is stored.

export interface HalvingStore<T> {
  /** Takes all of them or none. */
  readonly store: (items: readonly T[]) => Promise<void>;
  /** Whether a failure of `store` is the items' own fault. */
  readonly isRefused: (error: unknown) => boolean;
}

/**
 * Resolves with the items that are refused, in their order; everything else has been stored, from the first to the last. A failure
 * that is not the items' fault passes through, and the whole may be repeated.
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
