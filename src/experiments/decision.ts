// Decision rule of an experiment. Only always-valid p-values decide, so that daily looks and
// stopping at the first decision keep the false-positive rate at alpha. All other figures of the
// packet are descriptive.
import { type Comparison, type Counts, findAbsoluteLift } from './proportions.js';

export const ALPHA = 0.05;

/** Name of the control variant, when the experiment has a variant of this name. */
export const CONTROL_NAME = 'control';

/**
 * Below this always-valid p-value the split of units contradicts the weights. Stricter than alpha,
 * because it voids the experiment.
 */
const SAMPLE_RATIO_ALPHA = 0.001;

/** Minimum of each variant before a decision: below it the normal approximation does not hold. */
export const EXPOSURES_MIN = 100;
export const CONVERSIONS_MIN = 5;

export type DecisionStatus = 'invalid' | 'collecting' | 'treatment_better' | 'control_better' | 'inconclusive';

/** Fewest units with a value: with fewer the variance of values with a heavy tail is not known. */
export const VALUES_MIN = 30;

export const isCollecting = ({ exposures, conversions }: Counts, conversionsMin = CONVERSIONS_MIN): boolean =>
  exposures < EXPOSURES_MIN || conversions < conversionsMin;

export const isSplitWrong = (sampleRatioPValue: number | undefined): boolean =>
  sampleRatioPValue !== undefined && sampleRatioPValue < SAMPLE_RATIO_ALPHA;

interface TestedComparison extends Comparison {
  /** Lift of means; when left out, it is that of the rates. */
  readonly lift?: number | undefined;
  /** Always valid, and adjusted for the number of treatments. */
  readonly alwaysValidPValue: number;
}

export interface DecisionBasis {
  /** All against one control. */
  readonly comparisons: readonly TestedComparison[];
  /** Undefined while it cannot be tested. */
  readonly sampleRatioPValue: number | undefined;
  readonly conversionsMin?: number;
}

/**
 * The first that holds: `invalid` when the split is wrong; `collecting` while any variant has too
 * little, or there is nothing to compare; `treatment_better` when at least one treatment beats the
 * control; `control_better` when the control beats every treatment; else `inconclusive`, also when
 * the control beats only some: another may still turn out better. The probability of any false
 * claim is at most alpha, by the adjustment of the p-values.
 */
export function toDecisionStatus({ comparisons, sampleRatioPValue, conversionsMin }: DecisionBasis): DecisionStatus {
  if (isSplitWrong(sampleRatioPValue)) return 'invalid';
  if (comparisons.length === 0) return 'collecting';
  const isEarly = (counts: Counts): boolean => isCollecting(counts, conversionsMin);
  if (comparisons.some(({ control, treatment }) => isEarly(control) || isEarly(treatment))) return 'collecting';

  const directions = comparisons.map(toDirection);
  if (directions.some((direction) => direction > 0)) return 'treatment_better';
  if (directions.every((direction) => direction < 0)) return 'control_better';
  return 'inconclusive';
}

/** 1: the treatment is better; -1: the control is; 0: not decided. */
const toDirection = (comparison: TestedComparison): number =>
  comparison.alwaysValidPValue > ALPHA ? 0 : Math.sign(comparison.lift ?? findAbsoluteLift(comparison) ?? 0);
