// Seeded random numbers of benchmarks, simulations and fault runs: the same seed repeats a run.

/**
 * Mulberry32, by Tommy Ettinger (public domain): uniform in [0, 1), 32 bits. Small, fast, and
 * sufficient to distribute choices.
 */
export function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
