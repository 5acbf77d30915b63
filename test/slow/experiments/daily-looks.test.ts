// Error rates of the always-valid test: experiments without a difference that are evaluated daily
// and stopped at the first decision, and experiments with one. Seeds are fixed, so rates are
// deterministic.
import { describe, expect, test } from 'vitest';
import { createRandom } from '../../../bench/random.js';
import type { DecisionStatus } from '../../../src/experiments/decision.js';
import { findAbsoluteLift, toPooledPValue } from '../../../src/experiments/proportions.js';
import { toSequentialInterval } from '../../../src/experiments/sequential-test.js';
import { type Design, judge, simulateLooks } from '../../unit/experiments/simulated-experiments.js';

const EXPERIMENTS = 2_000;
const DAYS = 30;

const design = (rates: readonly number[], unitsPerDay: readonly number[], delayLooksMax = 0): Design => ({
  looks: DAYS,
  delayLooksMax,
  variants: rates.map((rate, index) => ({ rate, unitsPerLook: unitsPerDay[index] ?? 0 })),
});

/** Share of experiments in which some treatment was ever distinguished from the control. */
function rejectionRate(simulated: Design, seed: number): number {
  const random = createRandom(seed);
  let rejected = 0;
  for (let experiment = 0; experiment < EXPERIMENTS; experiment++) {
    for (const counts of simulateLooks(simulated, random)) {
      if (!judge(counts).isAnyRejected) continue;
      rejected++;
      break;
    }
  }
  return rejected / EXPERIMENTS;
}

describe('A/A experiments evaluated daily for 30 days', () => {
  test.each([
    ['10 %, 100 units a day', design([0.1, 0.1], [100, 100])],
    ['50 %, 200 units a day', design([0.5, 0.5], [200, 200])],
    ['1 %, 100 units a day: decisions on a handful of conversions', design([0.01, 0.01], [100, 100])],
    ['98 %, 50 units a day: a handful does not convert', design([0.98, 0.98], [50, 50])],
    ['5 %, nine to one', design([0.05, 0.05], [180, 20])],
    ['5 %, one to nine', design([0.05, 0.05], [20, 180])],
    ['10 %, conversions up to a week late', design([0.1, 0.1], [100, 100], 7)],
    ['three treatments, 10 %', design([0.1, 0.1, 0.1, 0.1], [100, 100, 100, 100])],
    ['three treatments, 3 %, a large control', design([0.03, 0.03, 0.03, 0.03], [150, 50, 50, 50])],
  ])('at most 5 % of 2,000 are ever called different: %s', (_, simulated) => {
    expect(rejectionRate(simulated, 20_261_120)).toBeLessThanOrEqual(0.05);
  });

  test('a fixed-sample test evaluated daily calls more than 25 % different', () => {
    const random = createRandom(7);
    let rejected = 0;
    for (let experiment = 0; experiment < EXPERIMENTS; experiment++) {
      for (const [control, treatment] of simulateLooks(design([0.1, 0.1], [100, 100]), random)) {
        if (!control || !treatment || toPooledPValue({ control, treatment }) > 0.05) continue;
        rejected++;
        break;
      }
    }
    expect(rejected / EXPERIMENTS).toBeGreaterThan(0.25);
  });
});

function statusShares(simulated: Design, seed: number): ReadonlyMap<DecisionStatus, number> {
  const random = createRandom(seed);
  const shares = new Map<DecisionStatus, number>();
  const experiments = 500;
  for (let experiment = 0; experiment < experiments; experiment++) {
    let status: DecisionStatus = 'collecting';
    for (const counts of simulateLooks(simulated, random)) {
      status = judge(counts).status;
      if (status === 'treatment_better' || status === 'control_better') break;
    }
    shares.set(status, (shares.get(status) ?? 0) + 1 / experiments);
  }
  return shares;
}

describe('A/B experiments evaluated daily for 30 days and stopped at the first decision', () => {
  test.each<[string, Design, DecisionStatus, number]>([
    ['10 % to 13 %', design([0.1, 0.13], [200, 200]), 'treatment_better', 0.95],
    ['13 % to 10 %', design([0.13, 0.1], [200, 200]), 'control_better', 0.95],
    ['5 % to 10 %, 50 units a day', design([0.05, 0.1], [50, 50]), 'treatment_better', 0.95],
    ['10 % to 12 %', design([0.1, 0.12], [200, 200]), 'treatment_better', 0.65],
    ['one of three treatments is better', design([0.1, 0.1, 0.1, 0.13], [200, 200, 200, 200]), 'treatment_better', 0.9],
    ['both treatments are worse', design([0.15, 0.1, 0.1], [200, 200, 200]), 'control_better', 0.95],
  ])('are decided correctly: %s', (_, simulated, right, share) => {
    const shares = statusShares(simulated, 11);
    const wrong = right === 'treatment_better' ? 'control_better' : 'treatment_better';
    expect(shares.get(right) ?? 0).toBeGreaterThan(share);
    expect(shares.get(wrong) ?? 0).toBeLessThan(0.01);
  });

  test('the sequential interval covers the true lift on all days together', () => {
    const random = createRandom(3);
    const experiments = 1_000;
    let covered = 0;
    for (let experiment = 0; experiment < experiments; experiment++) {
      let isCovered = true;
      for (const [control, treatment] of simulateLooks(design([0.1, 0.13], [100, 100]), random)) {
        if (!control || !treatment) continue;
        const { low, high } = toSequentialInterval({ control, treatment }, 0.05);
        expect(low).toBeLessThan(findAbsoluteLift({ control, treatment }) ?? 0);
        isCovered &&= low <= 0.03 && high >= 0.03;
      }
      if (isCovered) covered++;
    }
    expect(covered / experiments).toBeGreaterThanOrEqual(0.95);
  });
});
