// Holm's correction for several treatments against one control: keeps the chance of any false
// positive at alpha.

/**
 * Holm's adjusted p-values, in the order given: each may be compared with alpha itself, and the
 * probability that any true hypothesis is rejected is at most alpha, whatever the dependence
 * between them (they share a control). With one p-value nothing changes. Always-valid p-values stay
 * always valid, because the bound needs only that each is valid. Source: S. Holm, "A simple
 * sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6 (1979).
 */
export function adjustByHolm(pValues: readonly number[]): number[] {
  const ascending = pValues.map((pValue, index) => ({ pValue, index })).sort((a, b) => a.pValue - b.pValue);
  const adjusted = new Array<number>(pValues.length).fill(1);
  let largest = 0;
  ascending.forEach(({ pValue, index }, rank) => {
    largest = Math.max(largest, Math.min(1, pValue * (pValues.length - rank)));
    adjusted[index] = largest;
  });
  return adjusted;
}
