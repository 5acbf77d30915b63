// Error rates of the confidence sequence of values: heavy tails, unequal weights and late values,
// evaluated daily for 60 days. Seeds are fixed, so rates are deterministic. `npm run simulate` runs
// 10,000 experiments of each design.
import { describe, expect, test } from 'vitest';
import { createRandom } from '../../../bench/random.js';
import { countErrors, simulateValues, VALUE_DESIGNS } from '../../../bench/simulate-values.js';
import { toMeanPValue } from '../../../src/experiments/means.js';

const EXPERIMENTS = 400;

describe.each(Object.entries(VALUE_DESIGNS))('%s', (_, design) => {
  test('at most 5 % of A/A experiments are ever called different', () => {
    expect(countErrors(design, EXPERIMENTS, 7).rejected).toBeLessThanOrEqual(0.05);
  });

  test('the interval covers a lift of 10 % on all days of 95 % of experiments', () => {
    expect(countErrors({ ...design, factor: 1.1 }, EXPERIMENTS, 8).covered).toBeGreaterThanOrEqual(0.95);
  });
});

test('more than 90 % of experiments with a doubled value are decided', () => {
  const [design] = Object.values(VALUE_DESIGNS);
  if (!design) throw new Error('there is no design');
  expect(countErrors({ ...design, factor: 2, unitsPerDay: [400, 400] }, 100, 9).rejected).toBeGreaterThan(0.9);
});

test('a fixed-sample test evaluated daily calls more than 10 % different', () => {
  const [design] = Object.values(VALUE_DESIGNS);
  if (!design) throw new Error('there is no design');
  const random = createRandom(3);
  let rejected = 0;
  for (let experiment = 0; experiment < EXPERIMENTS; experiment++) {
    const looks = [...simulateValues(design, random)];
    if (looks.some(([control, treatment]) => toMeanPValue({ control, treatment }) < 0.05)) rejected++;
  }
  expect(rejected / EXPERIMENTS).toBeGreaterThan(0.1);
});
