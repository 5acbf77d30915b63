// Sample-ratio test: whether units are split between the variants according to their weights. A
// mismatch means that assignment or tracking loses units of one variant, which makes every
// comparison invalid.

export interface ExpectedSplit {
  /** As stated, when every variant states a usable one; otherwise 1 each. */
  readonly weights: readonly number[];
  /** Shares of all units, in the same order, summing to 1. */
  readonly ratios: readonly number[];
}

/** A usable weight is finite and not negative; any other value counts as not stated. */
export const isUsableWeight = (weight: number | null): weight is number =>
  weight !== null && Number.isFinite(weight) && weight >= 0;

/** The stated weights when all are usable and one is positive; otherwise equal ones. */
export function toExpectedSplit(stated: readonly (number | null)[]): ExpectedSplit {
  const usable = stated.filter(isUsableWeight);
  const isStated = usable.length === stated.length && usable.some((weight) => weight > 0);
  const weights = isStated ? usable : stated.map(() => 1);
  // Scaled by the largest first, so that a sum cannot overflow.
  const largest = weights.reduce((max, weight) => Math.max(max, weight), 0);
  const total = weights.reduce((sum, weight) => sum + weight / largest, 0);
  return { weights, ratios: weights.map((weight) => weight / largest / total) };
}

/**
 * Weight of the expected split in the prior, in units: other splits are expected within about 1.6
 * points of one half. A wrong choice costs time, never validity.
 */
const PRIOR_UNITS = 1_000;

/** Below this, the split of so few units is not judged, so that the first ones void nothing. */
const EXPECTED_UNITS_MIN = 5;

/**
 * Always-valid p-value of "units are split by these ratios". The units are counts of a multinomial
 * distribution; the ratio of their likelihood under a Dirichlet prior around the expected split to
 * that under the split itself is a martingale when the split is right, so by Ville's inequality its
 * inverse is ever below alpha with probability alpha at most, however often it is looked at.
 * Undefined while it is not tested: fewer than two variants, or too few units expected in one. A
 * variant that expects none takes no part when it has none, and makes the p-value 0 when it has
 * some. Source: M. Lindon, A. Malek, "Anytime-Valid Inference for Multinomial Count Data", NeurIPS
 * 2022.
 */
export function findSampleRatioPValue(exposures: readonly number[], ratios: readonly number[]): number | undefined {
  const cells = exposures.map((units, index) => ({ units, ratio: ratios[index] ?? 0 }));
  const expecting = cells.filter(({ ratio }) => ratio > 0);
  const total = exposures.reduce((sum, units) => sum + units, 0);
  if (cells.some(({ units, ratio }) => units > 0 && ratio === 0)) return 0;
  if (expecting.length < 2 || expecting.some(({ ratio }) => ratio * total < EXPECTED_UNITS_MIN)) return undefined;
  const logRatio = expecting.reduce(
    (sum, { units, ratio }) => sum + logRising(PRIOR_UNITS * ratio, units) - units * Math.log(ratio),
    -logRising(PRIOR_UNITS, total),
  );
  return Math.min(1, Math.exp(-logRatio));
}

/** Logarithm of start · (start + 1) · … with `count` factors. */
const logRising = (start: number, count: number): number =>
  count === 0 ? 0 : logGamma(start + count) - logGamma(start);

/**
 * Below this, the recurrence Γ(x + 1) = x Γ(x) leads to where the series is exact to double
 * precision.
 */
const SERIES_MIN = 10;

/**
 * Logarithm of the gamma function of x > 0, by Stirling's series. Relative error below 1e-14.
 * Source: Abramowitz & Stegun, Handbook of Mathematical Functions, 6.1.41.
 */
export function logGamma(x: number): number {
  if (x < SERIES_MIN) return logGamma(x + 1) - Math.log(x);
  const inverse = 1 / (x * x);
  const series = 1 / 12 - inverse * (1 / 360 - inverse * (1 / 1260 - inverse * (1 / 1680 - inverse / 1188)));
  return (x - 0.5) * Math.log(x) - x + Math.log(2 * Math.PI) / 2 + series / x;
}
