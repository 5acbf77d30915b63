// Sample-ratio test: whether units are split between the variants according to their weights. A mismatch means that
// assignment or tracking loses units of one variant, which makes every comparison invalid.
import { chiSquareSurvival } from './chi-square.js';

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

/** The chi-square approximation needs this many expected units in every variant (W. G. Cochran, Biometrics 10, 1954). */
const EXPECTED_UNITS_MIN = 5;

/**
 * P-value of "units are split by these ratios" from Pearson's chi-square with one degree of freedom less than variants.
 * Undefined while it cannot be tested: fewer than two variants, or too few units expected in one. A variant that expects
 * none takes no part when it has none, and makes the p-value 0 when it has some.
 * Source: A. Fabijan et al., "Diagnosing Sample Ratio Mismatch in Online Controlled Experiments", KDD 2019.
 */
export function findSampleRatioPValue(exposures: readonly number[], ratios: readonly number[]): number | undefined {
  const total = exposures.reduce((sum, count) => sum + count, 0);
  const cells = exposures.map((observed, index) => ({ observed, expected: total * (ratios[index] ?? 0) }));
  const expecting = cells.filter(({ expected }) => expected > 0);
  if (cells.some(({ observed, expected }) => observed > 0 && expected === 0)) return 0;
  if (expecting.length < 2 || expecting.some(({ expected }) => expected < EXPECTED_UNITS_MIN)) return undefined;
  const statistic = expecting.reduce((sum, { observed, expected }) => sum + (observed - expected) ** 2 / expected, 0);
  return chiSquareSurvival(statistic, expecting.length - 1);
}
