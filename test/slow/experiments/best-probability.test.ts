// Probability of the best variant, compared with exact integrals, the closed form for two variants
// and the normal limit.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toBestProbabilities } from '../../../src/experiments/best-probability.js';
import type { Counts } from '../../../src/experiments/proportions.js';
import { arbitraryCounts, of } from '../../unit/experiments/counts.js';

/**
 * P(second > first), the finite sum of E. Miller, "Formulas for Bayesian A/B Testing" (2015),
 * equation 6.
 */
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

describe('toBestProbabilities', () => {
  test.each([
    ['no units', [of(0, 0), of(0, 0)], [1 / 2, 1 / 2]],
    ['one conversion: ∫ 2x · x', [of(0, 0), of(1, 1)], [1 / 3, 2 / 3]],
    ['one conversion of three: ∫ 2x · x · x', [of(0, 0), of(0, 0), of(1, 1)], [1 / 4, 1 / 4, 1 / 2]],
    ['one each way: ∫ 2x · (2x - x²)', [of(0, 1), of(1, 1)], [1 / 6, 5 / 6]],
    ['equal counts', [of(7, 90), of(7, 90), of(7, 90)], [1 / 3, 1 / 3, 1 / 3]],
    ['far apart', [of(100, 100_000), of(90_000, 100_000)], [0, 1]],
    ['all and none', [of(1000, 1000), of(0, 1000)], [1, 0]],
    ['one variant', [of(1, 5)], [1]],
    ['none', [], []],
  ])('is exact: %s', (_, variants, expected) => {
    const actual = toBestProbabilities(variants);
    expect(actual).toHaveLength(expected.length);
    actual.forEach((probability, index) => {
      expect(probability).toBeCloseTo(expected[index] ?? Number.NaN, 7);
    });
  });

  test('equals the closed form for two variants, also of very different sizes', () => {
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

  test('approaches the normal distribution for many units', () => {
    // Half a standard error apart, with 200 million units: Φ(0.5) = 0.691462…; the correction is of
    // the order of 1e-4.
    const [, treatment] = toBestProbabilities([of(50_000_000, 100_000_000), of(50_003_536, 100_000_000)]);
    expect(treatment).toBeCloseTo(0.69146, 4);
  });

  test('sums to 1 and does not depend on the order', () => {
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
});
