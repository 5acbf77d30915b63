// Power of the size that `plan 10%` reports: with the planned lift, experiments of that size are
// decided as often as it says. Seeds are fixed, so rates are deterministic.
import { describe, expect, test } from 'vitest';
import { createRandom } from '../../../bench/random.js';
import { logNormal } from '../../../bench/simulate-values.js';
import { toAlwaysValidMeanPValue } from '../../../src/experiments/confidence-sequence.js';
import type { Moments } from '../../../src/experiments/means.js';
import { findUnitsForMean, findUnitsForRate } from '../../../src/experiments/needed-units.js';
import { toAlwaysValidPValue } from '../../../src/experiments/sequential-test.js';

const EXPERIMENTS = 600;
const ALPHA = 0.05;
/**
 * 0.8, with three standard deviations of the simulation, and what the normal approximation lacks.
 */
const [POWER_MIN, POWER_MAX] = [0.75, 0.86];

function shareOf(hits: (random: () => number) => boolean, seed: number): number {
  const random = createRandom(seed);
  let found = 0;
  for (let experiment = 0; experiment < EXPERIMENTS; experiment++) if (hits(random)) found += 1;
  return found / EXPERIMENTS;
}

function expectPower(share: number): void {
  expect(share).toBeGreaterThan(POWER_MIN);
  expect(share).toBeLessThan(POWER_MAX);
}

describe('experiments of the size of findUnitsForRate() have the planned power', () => {
  test.each([
    { rate: 0.1, relativeLift: 0.3, ratios: [0.5, 0.5] },
    { rate: 0.3, relativeLift: 0.15, ratios: [0.75, 0.25] },
    { rate: 0.04, relativeLift: 0.6, ratios: [0.4, 0.6] },
  ])('%o', ({ rate, relativeLift, ratios }) => {
    const units = findUnitsForRate(rate, { ratios, relativeLift }) ?? 0;
    const draw = (random: () => number, share: number, of: number) => {
      const exposures = Math.round(units * share);
      let conversions = 0;
      for (let unit = 0; unit < exposures; unit++) if (random() < of) conversions += 1;
      return { exposures, conversions };
    };
    const isFound = (random: () => number): boolean => {
      const control = draw(random, ratios[0] ?? 0, rate);
      const treatment = draw(random, ratios[1] ?? 0, rate * (1 + relativeLift));
      return toAlwaysValidPValue({ control, treatment }) <= ALPHA;
    };
    expectPower(shareOf(isFound, 11));
  });
});

test('experiments of the size of findUnitsForMean() have the planned power', () => {
  const values = logNormal(0.8);
  const variance = Math.exp(2 * 0.64) - Math.exp(0.64);
  const ratios = [0.5, 0.5];
  const known = { mean: values.mean, variance, countedShare: 1, convertedShare: 1 };
  const units = findUnitsForMean(known, { ratios, relativeLift: 0.15 }) ?? 0;
  const draw = (random: () => number, added: number): Moments => {
    const size = Math.round(units / 2);
    let [sum, squares] = [0, 0];
    for (let unit = 0; unit < size; unit++) {
      const value = values.draw(random) + added;
      sum += value;
      squares += value * value;
    }
    return { units: size, mean: sum / size, variance: (squares - sum ** 2 / size) / (size - 1) };
  };
  const isFound = (random: () => number): boolean =>
    toAlwaysValidMeanPValue({ control: draw(random, 0), treatment: draw(random, 0.15 * values.mean) }) <= ALPHA;
  expectPower(shareOf(isFound, 12));
});
