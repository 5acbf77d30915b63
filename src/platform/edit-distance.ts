// Edit distance of two names, for suggestions of the nearest known one.

/** More than any distance. */
const FAR = 1_000_000;

/**
 * Damerau-Levenshtein distance (optimal string alignment) between `a` and `b`; above `max`, some
 * number above it. Only cells near the diagonal can be within `max`, and rows after one that is
 * above it need not be computed.
 */
export function editDistance(a: string, b: string, max = Math.max(a.length, b.length)): number {
  if (Math.abs(a.length - b.length) > max) return max + 1;
  const newRow = () => new Uint32Array(b.length + 1);
  let [beforeLast, last, current] = [newRow(), newRow().map((_, column) => column), newRow()];
  let smallestOfLast = 0;
  for (let at = 1; at <= a.length; at++) {
    const from = Math.max(1, at - max);
    const to = Math.min(b.length, at + max);
    let smallest = from === 1 ? at : FAR;
    current[from - 1] = smallest;
    for (let column = from; column <= to; column++) {
      const isSame = a[at - 1] === b[column - 1];
      let cost = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
      );
      const isSwap = at > 1 && column > 1 && a[at - 1] === b[column - 2] && a[at - 2] === b[column - 1];
      if (isSwap) cost = Math.min(cost, (beforeLast[column - 2] ?? 0) + 1);
      current[column] = cost;
      smallest = Math.min(smallest, cost);
    }
    if (to < b.length) current[to + 1] = FAR;
    if (smallest > max && smallestOfLast >= max) return max + 1;
    smallestOfLast = smallest;
    [beforeLast, last, current] = [last, current, beforeLast];
  }
  return last[b.length] ?? 0;
}
