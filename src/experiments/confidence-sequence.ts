// Asymptotic confidence sequence of the difference of two means: an interval and an always-valid
// p-value, for looks at any time.
//
// After N units the estimate of a mean with standard deviation s per unit is within
//     s · sqrt((N ρ² + 1) / (N² ρ²) · log((N ρ² + 1) / alpha²))
// of the true one at all N together, with a probability that tends to 1 - alpha as the first look
// is later: whatever the distribution of the values, if it has a variance. Here the estimate is the
// difference of two means, and s² / N its variance V, which the two sample sizes determine.
//
// Source: I. Waudby-Smith, D. Arbour, R. Sinha, E. H. Kennedy, A. Ramdas, "Time-uniform central
// limit theory and asymptotic confidence sequences", Annals of Statistics 52 (2024), theorem 2.2,
// and for the choice of ρ its appendix B.2.
import { findLiftVariance, findMeanLift, type MeanComparison, type Moments } from './means.js';
import type { Interval } from './proportions.js';

/**
 * Number of units at which the interval is tightest in relation to that of a fixed sample size. A
 * wrong choice costs time, not validity; a large one keeps the interval wide while there are few
 * units, where the approximation by a normal distribution is poor for values with a heavy tail.
 */
const UNITS_OF_TIGHTEST = 10_000;
const ALPHA_OF_TIGHTEST = 0.05;
const LOG = -2 * Math.log(ALPHA_OF_TIGHTEST);
/** ρ² */
const SCALE = (LOG + Math.log(LOG + 1)) / UNITS_OF_TIGHTEST;

interface Evidence {
  readonly lift: number;
  readonly variance: number;
  /** N ρ² */
  readonly information: number;
}

/**
 * Covers the true lift at all looks together with probability 1 - alpha; undefined while a variant
 * has less than two units.
 */
export function findMeanSequence(comparison: MeanComparison, alpha: number): Interval | undefined {
  const evidence = findEvidence(comparison);
  if (!evidence) return undefined;
  const { lift, variance, information } = evidence;
  const factor = ((information + 1) / information) * (Math.log(information + 1) - 2 * Math.log(alpha));
  const margin = Math.sqrt(variance * factor);
  return { low: lift - margin, high: lift + margin };
}

/** Below alpha exactly when the interval of that alpha excludes 0; 1 while it cannot be tested. */
export function toAlwaysValidMeanPValue(comparison: MeanComparison): number {
  const evidence = findEvidence(comparison);
  if (!evidence) return 1;
  const { lift, variance, information } = evidence;
  const logRatio = (((information / (information + 1)) * lift * lift) / variance - Math.log(information + 1)) / 2;
  return Math.min(1, Math.exp(-logRatio));
}

/**
 * The variance is estimated. With a heavy tail, the smaller variant has a small mean and a small
 * variance as long as it has no large value. So of the pooled estimate, which is right when the
 * means are equal, and the separate ones, the larger is taken.
 */
function findEvidence(comparison: MeanComparison): Evidence | undefined {
  const lift = findMeanLift(comparison);
  const separate = findLiftVariance(comparison);
  if (lift === undefined || separate === undefined) return undefined;
  const { control, treatment } = comparison;
  const pooled = poolVariance(control, treatment, lift) * (1 / control.units + 1 / treatment.units);
  const variance = Math.max(separate, pooled);
  return variance > 0 ? { lift, variance, information: (control.units + treatment.units) * SCALE } : undefined;
}

/** Variance of all values together. */
function poolVariance(control: Moments, treatment: Moments, lift: number): number {
  const units = control.units + treatment.units;
  const within = (control.units - 1) * control.variance + (treatment.units - 1) * treatment.variance;
  const between = ((control.units * treatment.units) / units) * lift * lift;
  return (within + between) / (units - 1);
}
