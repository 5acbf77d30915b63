import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { chiSquareSurvival } from '../../../src/experiments/chi-square.js';
import { twoSidedTail } from '../../../src/experiments/normal.js';

describe('chiSquareSurvival', () => {
  // NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.4, upper critical values, three decimals.
  test.each([
    [3.841, 1, 0.05],
    [6.635, 1, 0.01],
    [10.828, 1, 0.001],
    [5.991, 2, 0.05],
    [7.815, 3, 0.05],
    [18.307, 10, 0.05],
    [29.588, 10, 0.001],
    [124.342, 100, 0.05],
  ])('NIST: %f with %i degrees of freedom', (statistic, degreesOfFreedom, expected) => {
    expect(chiSquareSurvival(statistic, degreesOfFreedom) / expected).toBeCloseTo(1, 3);
  });

  // Abramowitz & Stegun, Table 26.7, five decimals.
  test.each([
    [1, 1, 0.31731],
    [1, 2, 0.60653],
    [1, 3, 0.80125],
    [2, 1, 0.1573],
  ])('Table 26.7: %f with %i degrees of freedom', (statistic, degreesOfFreedom, expected) => {
    expect(chiSquareSurvival(statistic, degreesOfFreedom)).toBeCloseTo(expected, 5);
  });

  // Computed with thirty digits.
  test.each([
    [3.841458820694124, 1, 0.05],
    [18.307038053275146, 10, 0.05],
    [0.5, 7, 0.999446481390425],
    [30, 5, 1.4748581038443052e-5],
    [50, 20, 0.00022147663824878357],
    [1000, 4, 3.5694127797773843e-215],
    [1600, 1500, 0.03602644670402662],
  ])('eleven digits: %f with %i degrees of freedom', (statistic, degreesOfFreedom, expected) => {
    expect(Math.abs(chiSquareSurvival(statistic, degreesOfFreedom) / expected - 1)).toBeLessThan(1e-11);
  });

  test('one degree is a squared normal, two an exponential, and more degrees mean more', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 200, noNaN: true }), fc.integer({ min: 1, max: 300 }), (x, degrees) => {
        expect(chiSquareSurvival(x, 1)).toBeCloseTo(twoSidedTail(Math.sqrt(x)), 14);
        expect(chiSquareSurvival(x, 2)).toBeCloseTo(Math.exp(-x / 2), 14);
        expect(chiSquareSurvival(x, degrees)).toBeLessThanOrEqual(chiSquareSurvival(x, degrees + 2) + 1e-14);
        expect(chiSquareSurvival(x + 1, degrees)).toBeLessThanOrEqual(chiSquareSurvival(x, degrees) + 1e-14);
      }),
    );
  });

  test('ends', () => {
    expect(chiSquareSurvival(0, 3)).toBe(1);
    expect(chiSquareSurvival(Number.POSITIVE_INFINITY, 3)).toBe(0);
  });

  test.each([
    [1, 0],
    [1, 1.5],
    [-1, 1],
    [Number.NaN, 1],
  ])('refuses %f with %f degrees of freedom', (statistic, degreesOfFreedom) => {
    expect(() => chiSquareSurvival(statistic, degreesOfFreedom)).toThrow(RangeError);
  });
});
