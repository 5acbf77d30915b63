// Growth of a run time with the size of the input, as a ratio within one process: the load of the
// machine changes both times alike.

export interface Sizes {
  readonly small: number;
  readonly large: number;
}

const ROUNDS = 15;

/**
 * How many times as long the large input takes as the small one. Of several rounds the fastest
 * counts, so that a pause of the process changes nothing.
 */
export function growthOf(run: (size: number) => unknown, { small, large }: Sizes): number {
  const fastest = { small: Number.POSITIVE_INFINITY, large: Number.POSITIVE_INFINITY };
  for (let round = 0; round < ROUNDS; round += 1) {
    fastest.small = Math.min(
      fastest.small,
      timeOf(() => run(small)),
    );
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
