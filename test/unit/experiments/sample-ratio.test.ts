// Sample-ratio test: expected split, and the p-value of a mismatch.
import { describe, expect, test } from 'vitest';
import { findSampleRatioPValue, logGamma, toExpectedSplit } from '../../../src/experiments/sample-ratio.js';

describe('toExpectedSplit', () => {
  test.each([
    ['stated weights', [50, 50], [50, 50], [0.5, 0.5]],
    ['any scale', [1, 3], [1, 3], [0.25, 0.75]],
    ['no stated weights', [null, null], [1, 1], [0.5, 0.5]],
    ['one missing', [9, null], [1, 1], [0.5, 0.5]],
    ['one negative', [9, -1], [1, 1], [0.5, 0.5]],
    ['one infinite', [9, Number.POSITIVE_INFINITY], [1, 1], [0.5, 0.5]],
    ['all zero', [0, 0], [1, 1], [0.5, 0.5]],
    ['one zero', [1, 0, 1], [1, 0, 1], [0.5, 0, 0.5]],
    ['huge', [1e308, 1e308], [1e308, 1e308], [0.5, 0.5]],
    ['no variants', [], [], []],
  ])('%s', (_, stated, weights, ratios) => {
    expect(toExpectedSplit(stated)).toEqual({ weights, ratios });
  });
});

/**
 * The p-value computed unit by unit: probability of the variant of each, given those before,
 * against its ratio.
 */
function pValueByUnits(exposures: readonly number[], ratios: readonly number[]): number {
  const counts = exposures.map(() => 0);
  let logRatio = 0;
  for (const [variant, units] of exposures.entries()) {
    for (let unit = 0; unit < units; unit++) {
      const total = counts.reduce((sum, count) => sum + count, 0);
      const ratio = ratios[variant] ?? 0;
      logRatio += Math.log((1000 * ratio + (counts[variant] ?? 0)) / (1000 + total) / ratio);
      counts[variant] = (counts[variant] ?? 0) + 1;
    }
  }
  return Math.min(1, Math.exp(-logRatio));
}

describe('findSampleRatioPValue', () => {
  test.each([
    ['600 to 400', [600, 400], [0.5, 0.5]],
    ['three variants', [300, 250, 100], [0.5, 0.3, 0.2]],
    ['one to nine', [160, 900], [0.1, 0.9]],
    ['a small ratio', [4_990, 30], [0.999, 0.001]],
    ['few units', [10, 0], [0.5, 0.5]],
  ])('equals the p-value computed unit by unit: %s', (_, exposures, ratios) => {
    const expected = pValueByUnits(exposures, ratios);
    expect((findSampleRatioPValue(exposures, ratios) ?? Number.NaN) / expected).toBeCloseTo(1, 8);
  });

  test.each([
    ['as expected', [50, 50], [0.5, 0.5], 1],
    ['as expected, of many units', [500_300, 499_700], [0.5, 0.5], 1],
    ['a variant without units or weight takes no part', [50, 50, 0], [0.5, 0.5, 0], 1],
    ['units in a variant of weight 0', [50, 50, 1], [0.5, 0.5, 0], 0],
  ])('%s', (_, exposures, ratios, expected) => {
    expect(findSampleRatioPValue(exposures, ratios)).toBe(expected);
  });

  test.each([
    // R. Kohavi, D. Tang, Y. Xu, Trustworthy Online Controlled Experiments (2020), chapter 3: the
    // p-value of a single look is 1.8E-6.
    ['Kohavi', [821_588, 815_482], [0.5, 0.5], 0.001],
    ['one of ten units is lost', [10_000, 9_000], [0.5, 0.5], 1e-8],
  ])('detects a mismatch: %s', (_, exposures, ratios, most) => {
    expect(findSampleRatioPValue(exposures, ratios)).toBeLessThan(most);
  });

  test.each([
    ['no variants', [], []],
    ['one variant', [100], [1]],
    ['no units', [0, 0], [0.5, 0.5]],
    ['one unit', [1, 0], [0.5, 0.5]],
    ['fewer than 5 units expected in each', [9, 0], [0.5, 0.5]],
    ['fewer than 5 units expected in one', [40, 5], [0.9, 0.1]],
  ])('is undefined for %s', (_, exposures, ratios) => {
    expect(findSampleRatioPValue(exposures, ratios)).toBeUndefined();
  });

  test.each([0.1, 1, 2, 5.5, 20, 171])('logGamma(%s) satisfies its recurrence', (x) => {
    expect(logGamma(x + 1) - logGamma(x)).toBeCloseTo(Math.log(x), 11);
    expect(logGamma(1)).toBeCloseTo(0, 13);
    expect(logGamma(6)).toBeCloseTo(Math.log(120), 12);
  });
});
