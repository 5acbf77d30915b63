// The upper tail of the chi-square distribution with a whole number of degrees of freedom.
import { erfc } from './normal.js';

/**
 * Probability that a chi-square variable with `degreesOfFreedom` (1, 2, 3, …) exceeds `statistic` (0 to Infinity).
 * Source: Abramowitz & Stegun 26.4.4 (odd) and 26.4.5 (even): finite sums of positive terms, hence without
 * cancellation. Relative error below 1e-11. The terms are summed from logarithms, so that many degrees of freedom
 * do not underflow.
 */
export function chiSquareSurvival(statistic: number, degreesOfFreedom: number): number {
  if (!Number.isInteger(degreesOfFreedom) || degreesOfFreedom < 1 || !(statistic >= 0)) {
    throw new RangeError(`no chi-square of ${statistic} with ${degreesOfFreedom} degrees of freedom`);
  }
  if (statistic === 0) return 1;
  if (statistic === Number.POSITIVE_INFINITY) return 0;

  const half = statistic / 2;
  const isOdd = degreesOfFreedom % 2 === 1;
  // A term is half^s · exp(-half) / Γ(s + 1), where s runs up to degreesOfFreedom / 2 - 1 in steps of 1.
  let s = isOdd ? 0.5 : 0;
  let logTerm = isOdd ? Math.log(half) / 2 - half - Math.log(Math.sqrt(Math.PI) / 2) : -half;
  let sum = isOdd ? erfc(Math.sqrt(half)) : 0;
  for (; s <= degreesOfFreedom / 2 - 1; s++) {
    sum += Math.exp(logTerm);
    logTerm += Math.log(half / (s + 1));
  }
  return Math.min(1, sum);
}
