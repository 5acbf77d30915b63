// Growth of a run time with the size of the input, as a ratio within one process. A small input is
// run as often as makes it as long as the large one, so that other processes delay both alike.

export interface Sizes {
  readonly small: number;
  /** A multiple of `small`. */
  readonly large: number;
}

const ROUNDS = 15;

/**
 * Time of one large input divided by the time of small inputs of the same total size: 1 for linear
 * growth, large / small for quadratic growth. Of several rounds the fastest counts.
 */
export function growthOf(run: (size: number) => unknown, { small, large }: Sizes): number {
  const fastest = { small: Number.POSITIVE_INFINITY, large: Number.POSITIVE_INFINITY };
  for (let round = 0; round < ROUNDS; round += 1) {
    const smallMs = timeOf(() => {
      for (let size = 0; size < large; size += small) run(small);
    });
    fastest.small = Math.min(fastest.small, smallMs);
    fastest.large = Math.min(
      fastest.large,
      timeOf(() => run(large)),
    );
  }
  return fastest.large / fastest.small;
}

function timeOf(run: () => unknown): number {
  const startedAt = performance.now();
  run();
  return performance.now() - startedAt;
}
