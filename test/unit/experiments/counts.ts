// Generators of random counts for property tests of the statistics.
import fc from 'fast-check';
import type { Counts } from '../../../src/experiments/proportions.js';

/** `(12, 100)`: 12 conversions of 100 units. */
export const of = (conversions: number, exposures: number): Counts => ({ conversions, exposures });

export function arbitraryCounts(exposuresMax = 1_000_000): fc.Arbitrary<Counts> {
  return fc
    .integer({ min: 1, max: exposuresMax })
    .chain((exposures) => fc.integer({ min: 0, max: exposures }).map((conversions) => of(conversions, exposures)));
}

export const mirrored = ({ exposures, conversions }: Counts): Counts => of(exposures - conversions, exposures);
