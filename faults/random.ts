// Seeded random generator: the same seed repeats the run, as far as the machine allows.
import { createRandom as createNumbers } from '../bench/random.js';

export interface Random {
  /** From 0 up to and excluding 1. */
  next(): number;
  /** An integer from `min` to `max`, both included. */
  between(min: number, max: number): number;
  pick<T>(values: readonly T[]): T;
}

/** Sufficient to choose faults. */
export function createRandom(seed: number): Random {
  const next = createNumbers(seed);
  return {
    next,
    between: (min, max) => min + Math.floor(next() * (max - min + 1)),
    pick: (values) => {
      if (values.length === 0) throw new Error('there is nothing to pick from');
      return values[Math.floor(next() * values.length)] as (typeof values)[number];
    },
  };
}
