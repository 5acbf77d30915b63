// Seeded random generator: the same seed repeats the run, as far as the machine allows.

export interface Random {
  /** From 0 up to and excluding 1. */
  next(): number;
  /** An integer from `min` to `max`, both included. */
  between(min: number, max: number): number;
  pick<T>(values: readonly T[]): T;
}

/** Mulberry32, by Tommy Ettinger (public domain): small, and sufficient to choose faults. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  return {
    next,
    between: (min, max) => min + Math.floor(next() * (max - min + 1)),
    pick: (values) => {
      if (values.length === 0) throw new Error('there is nothing to pick from');
      return values[Math.floor(next() * values.length)] as (typeof values)[number];
    },
  };
}
