// Means of a value per unit, and what a fixed sample size says about them. Under repeated looks its
// error rates are higher than stated; confidence-sequence.ts has the test for daily looks.
import { criticalValue, twoSidedTail } from './normal.js';
import type { Interval } from './proportions.js';

/** Moments of the values of the units of a variant. */
export interface Moments {
  readonly units: number;
  /** 0 without units. */
  readonly mean: number;
  /** Sample variance: divided by one less than the units. 0 for fewer than two units. */
  readonly variance: number;
}

export interface MeanComparison<T extends Moments = Moments> {
  readonly control: T;
  readonly treatment: T;
}

/** Mean of the treatment minus mean of the control; undefined when either has no units. */
export const findMeanLift = ({ control, treatment }: MeanComparison): number | undefined =>
  control.units === 0 || treatment.units === 0 ? undefined : treatment.mean - control.mean;

/** The lift in units of the control's mean; undefined when that mean is not positive. */
export function findRelativeMeanLift(comparison: MeanComparison): number | undefined {
  const lift = findMeanLift(comparison);
  return lift === undefined || comparison.control.mean <= 0 ? undefined : lift / comparison.control.mean;
}

/** Variance of the lift; undefined for less than two units in a variant. */
export function findLiftVariance({ control, treatment }: MeanComparison): number | undefined {
  if (control.units < 2 || treatment.units < 2) return undefined;
  return control.variance / control.units + treatment.variance / treatment.units;
}

/** Normal interval of a mean, at confidence 1 - alpha; the mean itself for less than two units. */
export function toMeanInterval({ units, mean, variance }: Moments, alpha: number): Interval {
  const margin = units < 2 ? 0 : criticalValue(alpha) * Math.sqrt(variance / units);
  return { low: mean - margin, high: mean + margin };
}

/**
 * Normal interval of the lift, for a sample size that was fixed in advance; undefined when the lift
 * is.
 */
export function findLiftInterval(comparison: MeanComparison, alpha: number): Interval | undefined {
  const lift = findMeanLift(comparison);
  const variance = findLiftVariance(comparison);
  if (lift === undefined || variance === undefined) return undefined;
  const margin = criticalValue(alpha) * Math.sqrt(variance);
  return { low: lift - margin, high: lift + margin };
}

/**
 * Two-sided p-value of "both means are equal", with separate variances; 1 when it cannot be tested.
 */
export function toMeanPValue(comparison: MeanComparison): number {
  const lift = findMeanLift(comparison);
  const variance = findLiftVariance(comparison);
  return lift === undefined || !variance ? 1 : twoSidedTail(lift / Math.sqrt(variance));
}

/** Moments with those of the same quantity before the exposure. */
export interface MomentsBefore extends Moments {
  readonly earlierMean: number;
  readonly earlierVariance: number;
  /** Covariance of the value and the earlier one. */
  readonly covariance: number;
}

/**
 * CUPED: subtracts what the earlier value predicts, with one slope for all variants. The expected
 * lift stays, because variants do not differ before the exposure, and the variance falls by the
 * square of the correlation. Source: A. Deng, Y. Xu, R. Kohavi, T. Walker, "Improving the
 * Sensitivity of Online Controlled Experiments by Utilizing Pre-Experiment Data", WSDM 2013.
 */
export function adjustByEarlier<T extends MomentsBefore>(variants: readonly T[]): T[] {
  const weighted = (of: (variant: T) => number): number =>
    variants.reduce((sum, variant) => sum + Math.max(0, variant.units - 1) * of(variant), 0);
  const earlierVariance = weighted((variant) => variant.earlierVariance);
  if (earlierVariance <= 0) return [...variants];
  const slope = weighted(({ covariance }) => covariance) / earlierVariance;
  const units = variants.reduce((sum, variant) => sum + variant.units, 0);
  const center = variants.reduce((sum, variant) => sum + variant.units * variant.earlierMean, 0) / units;
  return variants.map((variant) => ({
    ...variant,
    mean: variant.mean - slope * (variant.earlierMean - center),
    variance: Math.max(0, variant.variance - 2 * slope * variant.covariance + slope ** 2 * variant.earlierVariance),
  }));
}
