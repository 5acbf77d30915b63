// Statistics of experiments with random counts: best probabilities, and the decisions of packets.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toBestProbabilities } from '../../../src/experiments/best-probability.js';
import { toChoicePacket } from '../../../src/experiments/packet.js';
import type { Counts } from '../../../src/experiments/proportions.js';
import { arbitraryCounts } from '../../unit/experiments/counts.js';
import { judge } from '../../unit/experiments/simulated-experiments.js';

const NOW = Date.UTC(2026, 10, 20, 9, 30);
const CHOICE = {
  choiceKey: 'checkout',
  conversionEvent: 'pay',
  unit: 'distinct_id',
  multiVariantUnits: 0,
  exposuresWithoutUnit: 0,
  immatureUnits: 0,
  firstExposureAtMs: Date.UTC(2026, 10, 1),
  lastExposureAtMs: NOW,
} as const;

/** P(second > first), the finite sum of E. Miller, "Formulas for Bayesian A/B Testing" (2015), equation 6. */
function closedForm(first: Counts, second: Counts): number {
  const [a1, b1] = [first.conversions + 1, first.exposures - first.conversions + 1];
  const [a2, b2] = [second.conversions + 1, second.exposures - second.conversions + 1];
  let logTerm = 0;
  for (let k = 0; k < b2; k++) logTerm += Math.log((b1 + k) / (a1 + b1 + k));
  let sum = 0;
  for (let i = 0; i < a2; i++) {
    sum += Math.exp(logTerm);
    logTerm += Math.log(((a1 + i) * (b2 + i)) / ((a1 + b1 + b2 + i) * (1 + i)));
  }
  return sum;
}

test('best probabilities equal the closed form for two variants, also of very different sizes', () => {
  fc.assert(
    fc.property(arbitraryCounts(3_000), arbitraryCounts(30), fc.boolean(), (large, small, isSwapped) => {
      const [first, second] = isSwapped ? [small, large] : [large, small];
      const [control, treatment] = toBestProbabilities([first, second]);
      expect(Math.abs((treatment ?? 0) - closedForm(first, second))).toBeLessThan(1e-7);
      expect((control ?? 0) + (treatment ?? 0)).toBeCloseTo(1, 12);
    }),
    { numRuns: 200 },
  );
});

test('best probabilities sum to 1 and do not depend on the order', () => {
  fc.assert(
    fc.property(fc.array(arbitraryCounts(), { minLength: 2, maxLength: 6 }), (variants) => {
      const forwards = toBestProbabilities(variants);
      const backwards = toBestProbabilities([...variants].reverse()).reverse();
      expect(forwards.reduce((sum, probability) => sum + probability, 0)).toBeCloseTo(1, 12);
      forwards.forEach((probability, index) => {
        expect(probability).toBeGreaterThanOrEqual(0);
        expect(probability).toBeCloseTo(backwards[index] ?? Number.NaN, 9);
      });
    }),
    { numRuns: 50 },
  );
});

test('a packet decides as the simulated experiments are judged, and holds only finite numbers', () => {
  const arbitraryVariants = fc.array(arbitraryCounts(20_000), { minLength: 2, maxLength: 4 });
  fc.assert(
    fc.property(arbitraryVariants, (counts) => {
      const total = counts.reduce((sum, { exposures }) => sum + exposures, 0);
      // Weights as observed, so that the split is right.
      const variants = counts.map((count, index) => ({
        ...count,
        variantKey: `v${index}`,
        weight: count.exposures / total,
      }));
      const packet = toChoicePacket({ ...CHOICE, variants }, NOW);
      expect(packet.decision_status).toBe(judge(counts).status);
      JSON.stringify(packet, (_, value) => {
        if (typeof value === 'number') expect(Number.isFinite(value)).toBe(true);
        return value;
      });
    }),
    { numRuns: 200 },
  );
});
