// Counts of experiments for tests of the statistics, random and written.
import fc from 'fast-check';
import type { ChoiceCounts, VariantCounts } from '../../../src/experiments/packet.js';
import type { Counts } from '../../../src/experiments/proportions.js';

/** `(12, 100)`: 12 conversions of 100 units. */
export const of = (conversions: number, exposures: number): Counts => ({ conversions, exposures });

export function arbitraryCounts(exposuresMax = 1_000_000): fc.Arbitrary<Counts> {
  return fc
    .integer({ min: 1, max: exposuresMax })
    .chain((exposures) => fc.integer({ min: 0, max: exposures }).map((conversions) => of(conversions, exposures)));
}

export const mirrored = ({ exposures, conversions }: Counts): Counts => of(exposures - conversions, exposures);

/** Counts of an experiment of conversions. */
export const choice = (variants: readonly VariantCounts[], more: Partial<ChoiceCounts> = {}): ChoiceCounts => ({
  choiceKey: 'checkout',
  conversionEvent: 'pay',
  unit: 'distinct_id',
  variants,
  multiVariantUnits: 0,
  exposuresWithoutUnit: 0,
  immatureUnits: 0,
  firstExposureAtMs: Date.UTC(2026, 10, 1),
  lastExposureAtMs: Date.UTC(2026, 10, 20, 9, 29, 59, 123),
  ...more,
});
