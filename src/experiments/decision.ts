// When a choice may be called, and for whom. Only the always-valid p-values decide, so that looking daily and stopping at the
// first decision keeps the chance of a false one at alpha; every other figure of the packet describes.
import { type Comparison, type Counts, findAbsoluteLift } from './proportions.js';

export const ALPHA = 0.05;

/** The variant that the others are compared with, when there is one of this name. */
export const CONTROL_NAME = 'control';

/** Below, the split of units contradicts the weights. Stricter than alpha, because it is looked at daily as well. */
export const SAMPLE_RATIO_ALPHA = 0.001;

/** What each variant has before anything is decided: a normal approximation of less would not hold. */
export const EXPOSURES_MIN = 100;
export const CONVERSIONS_MIN = 5;

export type DecisionStatus = 'invalid' | 'collecting' | 'treatment_better' | 'control_better' | 'inconclusive';

export const isCollecting = ({ exposures, conversions }: Counts): boolean =>
  exposures < EXPOSURES_MIN || conversions < CONVERSIONS_MIN;

export const isSplitWrong = (sampleRatioPValue: number | undefined): boolean =>
  sampleRatioPValue !== undefined && sampleRatioPValue < SAMPLE_RATIO_ALPHA;

export interface TestedComparison extends Comparison {
  /** Always valid, and adjusted for the number of treatments. */
  readonly alwaysValidPValue: number;
}

export interface DecisionBasis {
  /** All against one control. */
  readonly comparisons: readonly TestedComparison[];
  /** Undefined while it cannot be tested. */
  readonly sampleRatioPValue: number | undefined;
}

/**
 * The first that holds: `invalid` when the split is wrong; `collecting` while any variant has too little, or there is
 * nothing to compare; `treatment_better` when at least one treatment beats the control; `control_better` when the control
 * beats every treatment; else `inconclusive`, also when the control beats only some: another may still turn out
 * better. The probability of any false claim is at most alpha, by the adjustment of the p-values.
 */
export function toDecisionStatus({ comparisons, sampleRatioPValue }: DecisionBasis): DecisionStatus {
  if (isSplitWrong(sampleRatioPValue)) return 'invalid';
  if (comparisons.length === 0) return 'collecting';
  if (comparisons.some(({ control, treatment }) => isCollecting(control) || isCollecting(treatment)))
    return 'collecting';

  const directions = comparisons.map(toDirection);
  if (directions.some((direction) => direction > 0)) return 'treatment_better';
  if (directions.every((direction) => direction < 0)) return 'control_better';
  return 'inconclusive';
}

/** 1: the treatment is better; -1: the control is; 0: not decided. */
const toDirection = (comparison: TestedComparison): number =>
  comparison.alwaysValidPValue > ALPHA ? 0 : Math.sign(findAbsoluteLift(comparison) ?? 0);
