// Error rates of the sequential sample-ratio check, evaluated daily: for units that are split as
// expected, and for a variant that loses units. Seeds are fixed, so rates are deterministic.
import { expect, test } from 'vitest';
import { createRandom } from '../../../bench/random.js';
import { isSplitWrong } from '../../../src/experiments/decision.js';
import { findSampleRatioPValue } from '../../../src/experiments/sample-ratio.js';

/** Share of experiments of 60 days that are ever called invalid. */
function invalidShare(ratio: number, lost: number): number {
  const random = createRandom(21);
  const experiments = 1_000;
  let invalid = 0;
  for (let experiment = 0; experiment < experiments; experiment++) {
    const units = [0, 0];
    for (let day = 0; day < 60; day++) {
      for (let unit = 0; unit < 200; unit++) {
        const variant = random() < ratio ? 0 : 1;
        if (variant === 0 || random() >= lost) units[variant] = (units[variant] ?? 0) + 1;
      }
      if (!isSplitWrong(findSampleRatioPValue(units, [ratio, 1 - ratio]))) continue;
      invalid++;
      break;
    }
  }
  return invalid / experiments;
}

test.each([0.5, 0.9])('at split %s at most 0.1 % of correct experiments are ever called invalid', (ratio) => {
  expect(invalidShare(ratio, 0)).toBeLessThanOrEqual(0.001);
});

test('more than 90 % of experiments that lose 10 % of a variant are called invalid', () => {
  expect(invalidShare(0.5, 0.1)).toBeGreaterThan(0.9);
});
