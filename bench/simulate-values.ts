// Simulated experiments of value from a seed: units of which a part has a value with a heavy tail,
// which comes late, in variants of unequal weights. Values are winsorized at each look, as in the
// results of a choice.

import { findMeanSequence } from '../src/experiments/confidence-sequence.js';
import { isCollecting, VALUES_MIN } from '../src/experiments/decision.js';
import type { Moments } from '../src/experiments/means.js';
import { createRandom } from './random.js';

interface Distribution {
  readonly mean: number;
  readonly draw: (random: () => number) => number;
}

export const logNormal = (sd: number): Distribution => ({
  mean: Math.exp((sd * sd) / 2),
  draw: (random) => Math.exp(sd * Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())),
});

const pareto = (shape: number): Distribution => ({
  mean: shape / (shape - 1),
  draw: (random) => (1 - random()) ** (-1 / shape),
});

export interface ValueDesign {
  readonly days: number;
  /** Of the control and the treatment. */
  readonly unitsPerDay: readonly [number, number];
  /** The values of the treatment are those of the control times this. */
  readonly factor: number;
  /** Share of units with a value. */
  readonly rate: number;
  readonly values: Distribution;
  /** The value comes up to so many days after the exposure. */
  readonly delayDaysMax: number;
}

const WINSORIZED_ABOVE = 0.999;

interface Value {
  readonly variant: number;
  readonly value: number;
}

/** `conversions`: units with a value. */
export interface SimulatedMoments extends Moments {
  readonly conversions: number;
}

/** Sums of a variant, without a cut. */
interface Sums {
  conversions: number;
  sum: number;
  squares: number;
}

/** The moments of both variants at each day. */
export function* simulateValues(
  design: ValueDesign,
  random: () => number,
): Generator<readonly [SimulatedMoments, SimulatedMoments]> {
  const { days, unitsPerDay, factor, rate, values, delayDaysMax } = design;
  const arriving: Value[][] = Array.from({ length: days }, () => []);
  const sums: [Sums, Sums] = [zero(), zero()];
  /** Descending, as many as can be above the percentile. */
  let largest: Value[] = [];
  for (let day = 0; day < days; day++) {
    for (const [variant, count] of unitsPerDay.entries()) {
      for (let unit = 0; unit < count; unit++) {
        if (random() >= rate) continue;
        const value = values.draw(random) * (variant === 0 ? 1 : factor);
        arriving[day + Math.floor(random() * (delayDaysMax + 1))]?.push({ variant, value });
      }
    }
    const arrived = arriving[day] ?? [];
    for (const { variant, value } of arrived) add(sums[variant === 0 ? 0 : 1], value);
    const units: [number, number] = [unitsPerDay[0] * (day + 1), unitsPerDay[1] * (day + 1)];
    const kept = Math.ceil((1 - WINSORIZED_ABOVE) * (unitsPerDay[0] + unitsPerDay[1]) * days) + 2;
    largest = [...largest, ...arrived].sort((a, b) => b.value - a.value).slice(0, kept);
    const cap = percentileOf(largest, units[0] + units[1]);
    yield [momentsOf(0, sums[0], units[0]), momentsOf(1, sums[1], units[1])];

    function momentsOf(variant: number, of: Sums, count: number): SimulatedMoments {
      let { sum, squares } = of;
      for (const { variant: own, value } of largest) {
        if (own !== variant || value <= cap) continue;
        sum -= value - cap;
        squares -= value * value - cap * cap;
      }
      const mean = sum / count;
      return {
        units: count,
        conversions: of.conversions,
        mean,
        variance: (squares - count * mean * mean) / (count - 1),
      };
    }
  }
}

const zero = (): Sums => ({ conversions: 0, sum: 0, squares: 0 });

function add(sums: Sums, value: number): void {
  sums.conversions += 1;
  sums.sum += value;
  sums.squares += value * value;
}

/**
 * Interpolated over all units, of which those without a value have 0; where it is 0, nothing is
 * cut.
 */
function percentileOf(largest: readonly Value[], units: number): number {
  const position = WINSORIZED_ABOVE * (units - 1);
  const below = Math.floor(position);
  const at = (rank: number): number => largest[units - 1 - rank]?.value ?? 0;
  const percentile = at(below) + (position - below) * (at(Math.min(units - 1, below + 1)) - at(below));
  return percentile > 0 ? percentile : Number.POSITIVE_INFINITY;
}

export interface Errors {
  /** Share of experiments in which the means were ever called different. */
  readonly rejected: number;
  /** Share of experiments whose interval contained the true lift on all days. */
  readonly covered: number;
}

export const ALPHA = 0.05;

/** Daily looks at many experiments. */
export function countErrors(design: ValueDesign, experiments: number, seed: number): Errors {
  const random = createRandom(seed);
  const trueLift = design.rate * design.values.mean * (design.factor - 1);
  let rejected = 0;
  let covered = 0;
  for (let experiment = 0; experiment < experiments; experiment++) {
    let isRejected = false;
    let isCovered = true;
    for (const [control, treatment] of simulateValues(design, random)) {
      if (isEarly(control) || isEarly(treatment)) continue;
      const interval = findMeanSequence({ control, treatment }, ALPHA);
      if (!interval) continue;
      isRejected ||= interval.low > 0 || interval.high < 0;
      isCovered &&= interval.low <= trueLift && trueLift <= interval.high;
    }
    if (isRejected) rejected++;
    if (isCovered) covered++;
  }
  return { rejected: rejected / experiments, covered: covered / experiments };
}

const isEarly = ({ units, conversions }: SimulatedMoments): boolean =>
  isCollecting({ exposures: units, conversions }, VALUES_MIN);

const DESIGN = { days: 60, delayDaysMax: 7, factor: 1 } as const;

export const VALUE_DESIGNS: Readonly<Record<string, ValueDesign>> = {
  '10 % of units, log-normal with sd 1.5, 100 and 100 units a day': {
    ...DESIGN,
    unitsPerDay: [100, 100],
    rate: 0.1,
    values: logNormal(1.5),
  },
  '5 % of units, log-normal with sd 2, 180 and 20 units a day': {
    ...DESIGN,
    unitsPerDay: [180, 20],
    rate: 0.05,
    values: logNormal(2),
  },
  '5 % of units, log-normal with sd 2, 20 and 180 units a day': {
    ...DESIGN,
    unitsPerDay: [20, 180],
    rate: 0.05,
    values: logNormal(2),
  },
  '3 % of units, Pareto with shape 1.5, 450 and 50 units a day': {
    ...DESIGN,
    unitsPerDay: [450, 50],
    rate: 0.03,
    values: pareto(1.5),
  },
  'all units, Pareto with shape 2.5, 20 and 20 units a day': {
    ...DESIGN,
    unitsPerDay: [20, 20],
    rate: 1,
    values: pareto(2.5),
  },
};
