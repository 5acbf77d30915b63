// Mixture sequential probability ratio test (mSPRT) of the difference of two conversion rates:
// always-valid p-value and confidence sequence. Valid at any number of looks.
//
// With lift d, its variance V and a mixture variance T, the likelihood ratio of "the true lift is
// drawn from N(0, T)" against "it is 0" is
//     L = sqrt(V / (V + T)) · exp(T d² / (2 V (V + T)))
// For normal outcomes of known variance L is, under the null, a martingale that starts at 1, so by
// Ville's inequality it ever exceeds 1/alpha with probability alpha at most. Conversions are close
// to that once there are some; what is done about few is said at findEvidence. So p = min(1, 1/L)
// may be compared with alpha at any look, every day, and at the moment one stops because of what
// was seen. In theory the p-value over time is the running minimum of those of all looks. Nothing
// here remembers earlier looks: each look's own p-value is at least that minimum, so deciding on it
// alone is as valid, and slightly more cautious.
//
// Source: R. Johari, L. Pekelis, D. Walsh, "Always Valid Inference: Continuous Monitoring of A/B
// Tests", Operations Research 70 (2022) 1806–1821 (arXiv 1512.04922); for two streams R. Johari, P.
// Koomen, L. Pekelis, D. Walsh, "Peeking at A/B Tests", KDD 2017, whose V_n / n is V here, with the
// two sample sizes kept apart.
import { type Comparison, type Counts, findAbsoluteLift, type Interval } from './proportions.js';

/**
 * Standard deviation of the mixture over true effects, in log-odds: a lift of about 30 % of a low
 * rate, 7.5 points of a rate of 50 %. Times rate · (1 - rate) it becomes one of absolute lifts.
 * Being fixed in log-odds, it does not follow the lift that is seen, which would void the test. A
 * wrong choice costs time, never validity, and too small costs more than too large: at 0.3, true
 * lifts of 3 % to 100 % are found at |z| of 3.65 or less, where 3.03 is the least possible.
 */
const MIXTURE_LOG_ODDS_SD = 0.3;

interface Evidence {
  readonly lift: number;
  readonly variance: number;
  readonly mixtureVariance: number;
}

/**
 * Always-valid p-value of "both rates are equal", 0 to 1; 1 when either has no units. Take it from
 * all units so far, in whatever order looks happen.
 */
export function toAlwaysValidPValue(comparison: Comparison): number {
  const evidence = findEvidence(comparison);
  if (!evidence) return 1;
  const { lift, variance, mixtureVariance } = evidence;
  const sum = variance + mixtureVariance;
  const logRatio = (Math.log(variance / sum) + (mixtureVariance * lift * lift) / (variance * sum)) / 2;
  return Math.min(1, Math.exp(-logRatio));
}

/**
 * Interval of the absolute lift that covers the true one at all looks together with probability 1 -
 * alpha. It excludes 0 exactly when the always-valid p-value is below alpha.
 */
export function toSequentialInterval(comparison: Comparison, alpha: number): Interval {
  const evidence = findEvidence(comparison);
  if (!evidence) return { low: -1, high: 1 };
  const { lift, variance, mixtureVariance } = evidence;
  const sum = variance + mixtureVariance;
  const margin = Math.sqrt(((variance * sum) / mixtureVariance) * (Math.log(sum / variance) - 2 * Math.log(alpha)));
  return { low: Math.max(-1, lift - margin), high: Math.min(1, lift + margin) };
}

/**
 * The martingale needs the variance; this one is estimated, and with a handful of conversions the
 * estimate is small just when the lift looks large. So it errs upwards twice. One conversion and
 * one non-conversion are added to each variant (A. Agresti, B. Caffo, "Simple and effective
 * confidence intervals for proportions and differences of proportions result from adding two
 * successes and two failures", The American Statistician 54 (2000)), which vanishes as counts grow.
 * And of the pooled estimate, right under the null, and the separate ones, right for the interval
 * elsewhere, the larger is taken for both: with unequal weights each is too small in one of the two
 * directions.
 */
function findEvidence(comparison: Comparison): Evidence | undefined {
  const lift = findAbsoluteLift(comparison);
  if (lift === undefined) return undefined;
  const control = withPseudoUnits(comparison.control);
  const treatment = withPseudoUnits(comparison.treatment);
  const pooled = unitVariance({
    exposures: control.exposures + treatment.exposures,
    conversions: control.conversions + treatment.conversions,
  });
  const {
    control: { exposures: before },
    treatment: { exposures: after },
  } = comparison;
  return {
    lift,
    variance: Math.max(
      pooled / before + pooled / after,
      unitVariance(control) / before + unitVariance(treatment) / after,
    ),
    mixtureVariance: (MIXTURE_LOG_ODDS_SD * pooled) ** 2,
  };
}

const withPseudoUnits = ({ exposures, conversions }: Counts): Counts => ({
  exposures: exposures + 2,
  conversions: conversions + 1,
});

/** Variance of one unit's outcome, 0 or 1. */
function unitVariance({ exposures, conversions }: Counts): number {
  const rate = conversions / exposures;
  return rate * (1 - rate);
}
