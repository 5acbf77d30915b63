// Sample size of an experiment: the units and days still needed until a relative lift is found with
// a given power, from the rates and the traffic so far.
//
// The decision rests on the test for all looks, so this is the size of that test: the least number
// of units at which, with the true lift d, the standard deviation s of its estimate and the margin
// m of the sequential interval,
//     d - m ≥ z · s
// where z is the normal quantile of the power. For a fixed sample size m is 1.96 s, which is the
// usual formula. Earlier looks can only add to the power.
//
// Source: R. Johari, P. Koomen, L. Pekelis, D. Walsh, "Peeking at A/B Tests", KDD 2017, sections 4
// and 5 (power of tests for all looks); of the usual formula, J. M. Lachin, "Introduction to sample
// size determination and power analysis for clinical trials", Controlled Clinical Trials 2 (1981)
// 93–113.
import { DAY_MS } from '../platform/utc-day.js';
import { findMeanSequence } from './confidence-sequence.js';
import { ALPHA, CONVERSIONS_MIN, isCollecting, VALUES_MIN } from './decision.js';
import { findLiftVariance, type Moments } from './means.js';
import { criticalValue } from './normal.js';
import { toSequentialInterval } from './sequential-test.js';

/** Probability of finding the lift, if it is the true one. */
export const POWER = 0.8;
/** One-sided: twice the tail of the two-sided one. */
const POWER_QUANTILE = criticalValue(2 * (1 - POWER));

/** Lifts that need more are not found. */
const UNITS_MAX = 1e12;

/** Field `plan` of the JSON answer. Null where unknown; a warning has the reason. */
export interface PacketPlan {
  readonly relative_lift: number;
  readonly power: number;
  /** Units of all variants, in the ratio of their weights. */
  readonly units_needed: number | null;
  readonly units_left: number | null;
  readonly units_per_day: number | null;
  readonly days_left: number | null;
}

/** Expected ratios of the variants, the control first. */
export interface Split {
  readonly ratios: readonly number[];
  /** Lift of the treatment over the control, as a fraction of 1. */
  readonly relativeLift: number;
}

/**
 * Whether the test finds the lift with the power, from so many units in the control and in a
 * treatment.
 */
type IsFound = (control: number, treatment: number) => boolean;

/**
 * Units of all variants so that each treatment is found; undefined without treatments, and when
 * that is too many.
 */
function findUnits({ ratios }: Split, isFound: IsFound): number | undefined {
  const [control = 0, ...treatments] = ratios;
  if (treatments.length === 0) return undefined;
  const areEnough = (units: number): boolean =>
    treatments.every((treatment) => isFound(units * control, units * treatment));
  let enough = 1;
  while (!areEnough(enough)) {
    enough *= 2;
    if (enough > UNITS_MAX) return undefined;
  }
  let tooFew = enough / 2;
  while (enough - tooFew > 1) {
    const middle = Math.floor((tooFew + enough) / 2);
    if (areEnough(middle)) enough = middle;
    else tooFew = middle;
  }
  return enough;
}

/** With several treatments alpha is divided among them, as for the sequential intervals. */
const alphaOf = ({ ratios }: Split): number => ALPHA / (ratios.length - 1);

/**
 * For conversions at this rate of the control. A rate of the treatment above 1 is never reached.
 */
export function findUnitsForRate(rate: number, split: Split): number | undefined {
  const raised = rate * (1 + split.relativeLift);
  if (rate <= 0 || raised > 1) return undefined;
  return findUnits(split, (before, after) => {
    const control = { exposures: before, conversions: before * rate };
    const treatment = { exposures: after, conversions: after * raised };
    if (isCollecting(control, CONVERSIONS_MIN) || isCollecting(treatment, CONVERSIONS_MIN)) return false;
    const deviation = Math.sqrt((rate * (1 - rate)) / before + (raised * (1 - raised)) / after);
    return toSequentialInterval({ control, treatment }, alphaOf(split)).low >= POWER_QUANTILE * deviation;
  });
}

export interface ValuesSoFar {
  /** Mean of the control. */
  readonly mean: number;
  /** Variance of the values within variants. */
  readonly variance: number;
  /** Shares of the units: whose value counts, and that have a conversion. */
  readonly countedShare: number;
  readonly convertedShare: number;
}

/** For values with this mean of the control and this variance in each variant. */
export function findUnitsForMean(values: ValuesSoFar, split: Split): number | undefined {
  const { mean, variance, countedShare, convertedShare } = values;
  if (mean <= 0 || variance <= 0 || countedShare <= 0 || convertedShare <= 0) return undefined;
  return findUnits(split, (before, after) => {
    const isEarly = [before, after].some((units) =>
      isCollecting({ exposures: units, conversions: units * convertedShare }, VALUES_MIN),
    );
    if (isEarly) return false;
    const control: Moments = { units: before * countedShare, mean, variance };
    const treatment: Moments = { units: after * countedShare, mean: mean * (1 + split.relativeLift), variance };
    const sequence = findMeanSequence({ control, treatment }, alphaOf(split));
    const deviation = Math.sqrt(findLiftVariance({ control, treatment }) ?? Number.POSITIVE_INFINITY);
    return sequence !== undefined && sequence.low >= POWER_QUANTILE * deviation;
  });
}

export interface TrafficSoFar {
  readonly units: number;
  readonly fromMs: number | undefined;
  readonly untilMs: number;
}

/** `needed` is undefined when it cannot be said. */
export function toPacketPlan(relativeLift: number, needed: number | undefined, traffic: TrafficSoFar): PacketPlan {
  const { units, fromMs = traffic.untilMs, untilMs } = traffic;
  const perDay = untilMs > fromMs && units > 0 ? (units * DAY_MS) / (untilMs - fromMs) : null;
  const left = needed === undefined ? null : Math.max(0, needed - units);
  const daysLeft = left === null || perDay === null ? null : Math.ceil(left / perDay);
  return {
    relative_lift: relativeLift,
    power: POWER,
    units_needed: needed ?? null,
    units_left: left,
    units_per_day: perDay,
    days_left: left === 0 ? 0 : daysLeft,
  };
}

/** The control, as the plan reads it. */
export interface PlannedControl {
  /** Its rate, or its mean; null without units. */
  readonly level: number | null;
  readonly isRate: boolean;
  /** How many the experiment has, the control included. */
  readonly variants: number;
}

/** Why a plan has no number of units; undefined when it has one. */
export function warnOfPlan(plan: PacketPlan, { level, isRate, variants }: PlannedControl): string | undefined {
  if (plan.units_needed !== null) return undefined;
  const lift = `a lift of ${Number((plan.relative_lift * 100).toPrecision(6))}%`;
  if (variants < 2) {
    return `there is no plan for ${lift}: the experiment has ${variants === 0 ? 'no exposure' : 'one variant'} so far`;
  }
  const what = isRate ? 'rate' : 'mean';
  if (level === null || level <= 0)
    return `there is no plan for ${lift}: the ${what} of the control is not above 0 so far`;
  const from = `the ${what} ${Number(level.toPrecision(4))} of the control`;
  if (isRate && level * (1 + plan.relative_lift) > 1) return `there is no plan for ${lift}: ${from} cannot rise so far`;
  return `there is no plan for ${lift}: too few values, or more than ${UNITS_MAX} units, for ${from}`;
}
