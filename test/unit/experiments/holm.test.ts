// Holm's correction, compared with published examples and the step-down procedure.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { adjustByHolm } from '../../../src/experiments/holm.js';

const arbitraryPValues = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 20 });

describe('adjustByHolm', () => {
  test.each([
    // The worked example of "Holm–Bonferroni method": at 0.05 the first and the last are rejected.
    ['four, unordered', [0.01, 0.04, 0.03, 0.005], [0.03, 0.06, 0.06, 0.02]],
    // S. P. Wright, "Adjusted P-values for simultaneous inference", Biometrics 48 (1992): 0.005,
    // 0.011, 0.02, 0.04, 0.13.
    ['five, in order', [0.005, 0.011, 0.02, 0.04, 0.13], [0.025, 0.044, 0.06, 0.08, 0.13]],
    ['one is left alone', [0.04], [0.04]],
    ['ties', [0.02, 0.02], [0.04, 0.04]],
    ['never above 1', [0.6, 0.9], [1, 1]],
    ['none', [], []],
  ])('%s', (_, pValues, expected) => {
    const adjusted = adjustByHolm(pValues);
    expect(adjusted).toHaveLength(expected.length);
    adjusted.forEach((pValue, index) => {
      expect(pValue).toBeCloseTo(expected[index] ?? Number.NaN, 12);
    });
  });

  test('rejects what the step-down procedure rejects', () => {
    fc.assert(
      fc.property(arbitraryPValues, fc.double({ min: 0.001, max: 0.5, noNaN: true }), (pValues, alpha) => {
        const adjusted = adjustByHolm(pValues);
        const ascending = [...pValues].sort((a, b) => a - b);
        const stop = ascending.findIndex((pValue, rank) => pValue * (pValues.length - rank) > alpha);
        const rejected = stop === -1 ? ascending.length : stop;
        expect(adjusted.filter((pValue) => pValue <= alpha)).toHaveLength(rejected);
      }),
    );
  });

  test('lies between the p-value and Bonferroni, in the same order', () => {
    fc.assert(
      fc.property(arbitraryPValues, (pValues) => {
        const adjusted = adjustByHolm(pValues);
        pValues.forEach((pValue, i) => {
          expect(adjusted[i]).toBeGreaterThanOrEqual(pValue);
          expect(adjusted[i]).toBeLessThanOrEqual(Math.min(1, pValue * pValues.length));
          pValues.forEach((other, j) => {
            if (pValue < other) expect(adjusted[i]).toBeLessThanOrEqual(adjusted[j] ?? 0);
          });
        });
      }),
    );
  });
});
