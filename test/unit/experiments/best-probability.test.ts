import { describe, expect, test } from 'vitest';
import { toBestProbabilities } from '../../../src/experiments/best-probability.js';
import { of } from './counts.js';

describe('toBestProbabilities', () => {
  test.each([
    ['nothing is known', [of(0, 0), of(0, 0)], [1 / 2, 1 / 2]],
    ['one conversion: ∫ 2x · x', [of(0, 0), of(1, 1)], [1 / 3, 2 / 3]],
    ['one conversion of three: ∫ 2x · x · x', [of(0, 0), of(0, 0), of(1, 1)], [1 / 4, 1 / 4, 1 / 2]],
    ['one each way: ∫ 2x · (2x - x²)', [of(0, 1), of(1, 1)], [1 / 6, 5 / 6]],
    ['equal counts', [of(7, 90), of(7, 90), of(7, 90)], [1 / 3, 1 / 3, 1 / 3]],
    ['far apart', [of(100, 100_000), of(90_000, 100_000)], [0, 1]],
    ['all and none', [of(1000, 1000), of(0, 1000)], [1, 0]],
    ['one variant', [of(1, 5)], [1]],
    ['none', [], []],
  ])('%s', (_, variants, expected) => {
    const actual = toBestProbabilities(variants);
    expect(actual).toHaveLength(expected.length);
    actual.forEach((probability, index) => {
      expect(probability).toBeCloseTo(expected[index] ?? Number.NaN, 7);
    });
  });

  test('many units: the normal limit', () => {
    // Half a standard error apart, with 200 million units: Φ(0.5) = 0.691462…; the correction is of the order of 1e-4.
    const [, treatment] = toBestProbabilities([of(50_000_000, 100_000_000), of(50_003_536, 100_000_000)]);
    expect(treatment).toBeCloseTo(0.69146, 4);
  });
});
