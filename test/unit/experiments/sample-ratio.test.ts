import { describe, expect, test } from 'vitest';
import { findSampleRatioPValue, toExpectedSplit } from '../../../src/experiments/sample-ratio.js';

describe('toExpectedSplit', () => {
  test.each([
    ['stated weights', [50, 50], [50, 50], [0.5, 0.5]],
    ['any scale', [1, 3], [1, 3], [0.25, 0.75]],
    ['none stated', [null, null], [1, 1], [0.5, 0.5]],
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

describe('findSampleRatioPValue', () => {
  test.each([
    // R. Kohavi, D. Tang, Y. Xu, Trustworthy Online Controlled Experiments (2020), chapter 3: p is 1.8E-6.
    ['Kohavi', [821_588, 815_482], [0.5, 0.5], 1.82179287262e-6],
    // Wikipedia, "Sample ratio mismatch": p is 2.54 × 10^-10.
    ['600 to 400', [600, 400], [0.5, 0.5], 2.53962858947e-10],
    // Mendel's peas, 9:3:3:1: chi-square 0.470 with three degrees of freedom, p 0.925.
    ['Mendel', [315, 108, 101, 32], [9 / 16, 3 / 16, 3 / 16, 1 / 16], 0.925425895104],
    ['as expected', [50, 50], [0.5, 0.5], 1],
    ['a variant without units or weight takes no part', [50, 50, 0], [0.5, 0.5, 0], 1],
    ['units where none are expected', [50, 50, 1], [0.5, 0.5, 0], 0],
  ])('%s', (_, exposures, ratios, expected) => {
    const pValue = findSampleRatioPValue(exposures, ratios) ?? Number.NaN;
    expect(Math.abs(pValue - expected)).toBeLessThanOrEqual(1e-10 * expected);
  });

  test.each([
    ['no variants', [], []],
    ['one variant', [100], [1]],
    ['no units', [0, 0], [0.5, 0.5]],
    ['fewer than five expected', [9, 0], [0.5, 0.5]],
    ['fewer than five expected in one', [90, 4], [0.99, 0.01]],
  ])('cannot be tested: %s', (_, exposures, ratios) => {
    expect(findSampleRatioPValue(exposures, ratios)).toBeUndefined();
  });
});
