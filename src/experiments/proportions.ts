// Fixed-sample statistics of conversion rates: intervals, pooled z test, lifts. Under repeated
// looks their error rates are higher than stated; sequential-test.ts has the test for daily looks.
import { criticalValue, twoSidedTail } from './normal.js';

/**
 * Whole numbers, 0 ≤ conversions ≤ exposures. Exposures count units, each of which converted or did
 * not.
 */
export interface Counts {
  readonly exposures: number;
  readonly conversions: number;
}

export interface Interval {
  readonly low: number;
  readonly high: number;
}

export interface Comparison<T extends Counts = Counts> {
  readonly control: T;
  readonly treatment: T;
}

/** Conversions per unit, 0 to 1; undefined without units. */
export const findRate = ({ exposures, conversions }: Counts): number | undefined =>
  exposures === 0 ? undefined : conversions / exposures;

/** Rate of the treatment minus rate of the control, -1 to 1; undefined when either has no units. */
export function findAbsoluteLift({ control, treatment }: Comparison): number | undefined {
  const before = findRate(control);
  const after = findRate(treatment);
  return before === undefined || after === undefined ? undefined : after - before;
}

/**
 * The absolute lift in units of the control's rate: 0.1 is ten percent more. Undefined when that
 * rate is 0.
 */
export function findRelativeLift(comparison: Comparison): number | undefined {
  const lift = findAbsoluteLift(comparison);
  const before = findRate(comparison.control);
  return lift === undefined || !before ? undefined : lift / before;
}

/**
 * Wilson's score interval of a rate, at confidence 1 - alpha; 0 to 1 without units. Source: E. B.
 * Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22 (1927);
 * method 3 of R. G. Newcombe, "Two-sided confidence intervals for the single proportion",
 * Statistics in Medicine 17 (1998) 857–872.
 */
export function toWilsonInterval({ exposures, conversions }: Counts, alpha: number): Interval {
  if (exposures === 0) return { low: 0, high: 1 };
  const z = criticalValue(alpha);
  const centre = conversions + (z * z) / 2;
  const spread = z * Math.sqrt((conversions * (exposures - conversions)) / exposures + (z * z) / 4);
  const scale = exposures + z * z;
  // The formula gives 0 and 1 exactly at these ends; floating point misses them by a little.
  return {
    low: conversions === 0 ? 0 : Math.max(0, (centre - spread) / scale),
    high: conversions === exposures ? 1 : Math.min(1, (centre + spread) / scale),
  };
}

/**
 * Newcombe's interval of the absolute lift from the two Wilson intervals, at confidence 1 - alpha.
 * Source: method 10 of R. G. Newcombe, "Interval estimation for the difference between independent
 * proportions: comparison of eleven methods", Statistics in Medicine 17 (1998) 873–890.
 */
export function toNewcombeInterval({ control, treatment }: Comparison, alpha: number): Interval {
  const before = findRate(control);
  const after = findRate(treatment);
  if (before === undefined || after === undefined) return { low: -1, high: 1 };
  const ofControl = toWilsonInterval(control, alpha);
  const ofTreatment = toWilsonInterval(treatment, alpha);
  const lift = after - before;
  return {
    low: Math.max(-1, lift - Math.hypot(after - ofTreatment.low, ofControl.high - before)),
    high: Math.min(1, lift + Math.hypot(ofTreatment.high - after, before - ofControl.low)),
  };
}

/**
 * Two-sided p-value of "both rates are equal" from the z statistic with the pooled variance; its
 * square is Pearson's chi-square of the 2×2 table without correction. 1 when neither has units or
 * all outcomes are equal. Source: J. L. Fleiss, B. Levin, M. C. Paik, Statistical Methods for Rates
 * and Proportions, 3rd ed. (2003), section 3.1.
 */
export function toPooledPValue(comparison: Comparison): number {
  const lift = findAbsoluteLift(comparison);
  const variance = pooledVariance(comparison);
  return lift === undefined || variance === 0 ? 1 : twoSidedTail(lift / Math.sqrt(variance));
}

function pooledVariance({ control, treatment }: Comparison): number {
  const rate = (control.conversions + treatment.conversions) / (control.exposures + treatment.exposures);
  return rate * (1 - rate) * (1 / control.exposures + 1 / treatment.exposures);
}
