// Always-valid p-value and interval of conversion rates (mSPRT), compared with numerical
// integration.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Comparison, findAbsoluteLift } from '../../../src/experiments/proportions.js';
import { toAlwaysValidPValue, toSequentialInterval } from '../../../src/experiments/sequential-test.js';
import { arbitraryCounts, mirrored, of } from './counts.js';

/** The mixture likelihood ratio by numerical integration, as reference for the closed form. */
function likelihoodRatioByIntegration(lift: number, variance: number, mixtureVariance: number): number {
  const density = (x: number, mean: number, of: number): number =>
    Math.exp(-((x - mean) ** 2) / (2 * of)) / Math.sqrt(2 * Math.PI * of);
  const sd = Math.sqrt(mixtureVariance);
  const steps = 20_000;
  const width = (24 * sd) / steps;
  let sum = 0;
  for (let step = 0; step <= steps; step++) {
    const effect = -12 * sd + step * width;
    sum += density(lift, effect, variance) * density(effect, 0, mixtureVariance);
  }
  return (sum * width) / density(lift, 0, variance);
}

describe('toAlwaysValidPValue', () => {
  test.each([
    [of(100, 1000), of(130, 1000)],
    [of(100, 1000), of(170, 1000)],
    [of(500, 1000), of(560, 1000)],
    [of(3000, 10_000), of(3200, 10_000)],
  ])('is the inverse of the mixture likelihood ratio for %o, %o', (control, treatment) => {
    // Equal sizes: the pooled variance is the larger. One success and one failure are added to each
    // side.
    const rate = (control.conversions + treatment.conversions + 2) / (control.exposures + treatment.exposures + 4);
    const unitVariance = rate * (1 - rate);
    const lift = findAbsoluteLift({ control, treatment }) ?? Number.NaN;
    const variance = unitVariance / control.exposures + unitVariance / treatment.exposures;
    const ratio = likelihoodRatioByIntegration(lift, variance, (0.3 * unitVariance) ** 2);
    expect(toAlwaysValidPValue({ control, treatment }) / Math.min(1, 1 / ratio)).toBeCloseTo(1, 8);
  });

  test.each([
    ['no units on one side', of(0, 0), of(9, 10)],
    ['no units at all', of(0, 0), of(0, 0)],
    ['one unit each', of(0, 1), of(1, 1)],
    ['no conversions', of(0, 5000), of(0, 5000)],
    ['all units converted', of(5000, 5000), of(5000, 5000)],
    ['equal rates', of(50, 500), of(50, 500)],
    ['five conversions of a hundred against none', of(0, 100), of(5, 100)],
  ])('is above 0.5 for %s', (_, control, treatment) => {
    expect(toAlwaysValidPValue({ control, treatment })).toBeGreaterThan(0.5);
    const { low, high } = toSequentialInterval({ control, treatment }, 0.05);
    expect(low).toBeLessThan(0);
    expect(high).toBeGreaterThan(0);
  });

  test('is tiny for an obvious difference', () => {
    expect(toAlwaysValidPValue({ control: of(100, 1000), treatment: of(200, 1000) })).toBeLessThan(1e-6);
    expect(toAlwaysValidPValue({ control: of(0, 100_000), treatment: of(100_000, 100_000) })).toBeLessThan(1e-300);
  });

  test('is symmetric in sides and conversions', () => {
    fc.assert(
      fc.property(arbitraryCounts(), arbitraryCounts(), (control, treatment) => {
        const pValue = toAlwaysValidPValue({ control, treatment });
        expect(pValue).toBeGreaterThanOrEqual(0);
        expect(pValue).toBeLessThanOrEqual(1);
        expect(toAlwaysValidPValue({ control: treatment, treatment: control })).toBeCloseTo(pValue, 9);
        expect(toAlwaysValidPValue({ control: mirrored(control), treatment: mirrored(treatment) })).toBeCloseTo(
          pValue,
          9,
        );
      }),
    );
  });

  test('is above the p-value of a fixed sample size', () => {
    const arbitraryComparison = fc.record({ control: arbitraryCounts(), treatment: arbitraryCounts() });
    fc.assert(
      fc.property(arbitraryComparison, (comparison) => {
        const { low, high } = toSequentialInterval(comparison, 0.05);
        const lift = findAbsoluteLift(comparison) ?? 0;
        // At 0.05 every mixture requires at least 3.03 standard errors, and a fixed sample size
        // 1.96.
        const error = standardError(comparison);
        if (high < 1) expect(high - lift).toBeGreaterThan(3.02 * error);
        if (low > -1) expect(lift - low).toBeGreaterThan(3.02 * error);
      }),
    );
  });
});

function standardError({ control, treatment }: Comparison): number {
  const variances = [control, treatment].map(
    ({ conversions, exposures }) => (conversions * (exposures - conversions)) / exposures ** 3,
  );
  return Math.sqrt((variances[0] ?? 0) + (variances[1] ?? 0));
}

describe('toSequentialInterval', () => {
  test('excludes 0 exactly when the p-value is below alpha', () => {
    const close = arbitraryCounts(5_000).chain((control) =>
      fc
        .integer({ min: -200, max: 200 })
        .map((more) => of(Math.min(control.exposures, Math.max(0, control.conversions + more)), control.exposures))
        .map((treatment) => ({ control, treatment })),
    );
    fc.assert(
      fc.property(close, fc.double({ min: 0.001, max: 0.5, noNaN: true }), (comparison, alpha) => {
        const { low, high } = toSequentialInterval(comparison, alpha);
        expect(low > 0 || high < 0).toBe(toAlwaysValidPValue(comparison) < alpha);
      }),
      { numRuns: 1_000 },
    );
  });

  test('shrinks around the lift with more units, and widens with confidence', () => {
    const width = (factor: number, alpha: number): number => {
      const { low, high } = toSequentialInterval(
        { control: of(10 * factor, 100 * factor), treatment: of(12 * factor, 100 * factor) },
        alpha,
      );
      expect((low + high) / 2).toBeCloseTo(0.02, 12);
      return high - low;
    };
    const widths = [3, 10, 100, 1_000, 10_000, 1_000_000].map((factor) => width(factor, 0.05));
    expect(widths).toEqual([...widths].sort((a, b) => b - a));
    expect(width(100, 0.01)).toBeGreaterThan(width(100, 0.05));
  });

  test('stays within -1 and 1', () => {
    expect(toSequentialInterval({ control: of(0, 2), treatment: of(1, 2) }, 0.05)).toEqual({ low: -1, high: 1 });
  });
});
