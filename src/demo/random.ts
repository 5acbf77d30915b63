// Seeded random numbers (xorshift128): the same seed gives the same sequence on every machine.
import { sha256 } from '../platform/sha256.js';

export interface Random {
  /** From 0 up to, and without, 1. */
  next(): number;
  /** A whole number, both ends included. */
  integer(min: number, max: number): number;
  chance(probability: number): boolean;
  /** One of the values, in proportion to their weights. */
  weighted<T>(values: readonly T[], weightOf: (value: T, index: number) => number): T;
  pick<T>(values: readonly T[]): T;
}

const WORD = 2 ** 32;

export function createRandom(seed: string): Random {
  const digest = sha256(seed);
  let [a = 0, b = 0, c = 0, d = 0] = [0, 4, 8, 12].map((offset) => digest.readInt32LE(offset));
  const next = (): number => {
    const mixed = a ^ (a << 11);
    a = b;
    b = c;
    c = d;
    d = d ^ (d >>> 19) ^ mixed ^ (mixed >>> 8);
    return (d >>> 0) / WORD;
  };
  const at = <T>(values: readonly T[], index: number): T => {
    const value = values[Math.min(index, values.length - 1)];
    if (value === undefined) throw new Error('there is nothing to choose from');
    return value;
  };
  return {
    next,
    integer: (min, max) => min + Math.floor(next() * (max - min + 1)),
    chance: (probability) => next() < probability,
    pick: (values) => at(values, Math.floor(next() * values.length)),
    weighted: (values, weightOf) => {
      const weights = values.map(weightOf);
      let left = next() * weights.reduce((sum, weight) => sum + weight, 0);
      const index = weights.findIndex((weight) => {
        left -= weight;
        return left < 0;
      });
      return at(values, index === -1 ? values.length - 1 : index);
    },
  };
}
