// Tail and quantile of the normal distribution, compared with published tables.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { criticalValue, erfc, twoSidedTail } from '../../../src/experiments/normal.js';

const relativeError = (actual: number, expected: number): number => Math.abs(actual / expected - 1);

describe('erfc', () => {
  // Abramowitz & Stegun, Table 7.1, ten decimals of erf.
  test.each([
    [0, 0],
    [0.1, 0.112462916],
    [0.5, 0.5204998778],
    [1, 0.8427007929],
    [1.5, 0.9661051465],
    [2, 0.995322265],
  ])('erf(%f) is %f (Abramowitz and Stegun, table 7.1)', (x, erf) => {
    expect(1 - erfc(x)).toBeCloseTo(erf, 9.5);
  });

  // Computed with thirty digits; at 1.5 the method changes.
  test.each([
    [0.1, 0.887537083981715],
    [1, 0.15729920705028513],
    [1.4999999, 0.03389486541771998],
    [1.5, 0.033894853524689274],
    [1.999, 0.004698443348629487],
    [2, 0.004677734981047266],
    [2.001, 0.00465710928147535],
    [5, 1.537459794428035e-12],
    [20, 5.395865611607901e-176],
  ])('has thirteen correct digits at %f', (x, expected) => {
    expect(relativeError(erfc(x), expected)).toBeLessThan(1e-13);
  });

  test('decreases from 1 to 0', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 30, noNaN: true }),
        fc.double({ min: 1e-6, max: 1, noNaN: true }),
        (x, more) => {
          expect(erfc(x + more)).toBeLessThanOrEqual(erfc(x));
          expect(erfc(x)).toBeGreaterThanOrEqual(0);
          expect(erfc(x)).toBeLessThanOrEqual(1);
        },
      ),
    );
  });
});

describe('criticalValue', () => {
  // M. J. Wichura, "Algorithm AS 241", Applied Statistics 37 (1988), the values that test PPND16:
  // tails 0.25, 0.001, 1e-20.
  test.each([
    [0.5, 0.6744897501960817],
    [0.002, 3.090232306167814],
    [2e-20, 9.262340089798409],
  ])('equals the values of AS 241 at alpha %d', (alpha, expected) => {
    expect(criticalValue(alpha)).toBeCloseTo(expected, 13);
  });

  // Abramowitz & Stegun, Table 26.5, five decimals.
  test.each([
    [0.05, 1.95996],
    [0.01, 2.57583],
    [0.1, 1.64485],
    [0.001, 3.29053],
  ])('equals table 26.5 of Abramowitz and Stegun at alpha %d', (alpha, expected) => {
    expect(criticalValue(alpha)).toBeCloseTo(expected, 5);
  });

  test('inverts twoSidedTail', () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-300, max: 0.999999, noNaN: true }), (alpha) => {
        expect(relativeError(twoSidedTail(criticalValue(alpha)), alpha)).toBeLessThan(1e-10);
      }),
    );
  });

  test.each([0, 1, -0.1, 2, Number.NaN])('refuses %f', (alpha) => {
    expect(() => criticalValue(alpha)).toThrow(RangeError);
  });
});

test('twoSidedTail() is symmetric', () => {
  expect(twoSidedTail(0)).toBe(1);
  expect(twoSidedTail(-1.96)).toBe(twoSidedTail(1.96));
  expect(twoSidedTail(1.96)).toBeCloseTo(0.04999579029644087, 14);
});
