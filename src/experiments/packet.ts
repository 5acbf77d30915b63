// Assembles the choice result packet (JSON field names included) from counts per variant. The query
// counts units and conversions; the statistics are in the other files of this folder.
import { formatInstant } from '../platform/instant.js';
import { toBestProbabilities, VARIANTS_MAX } from './best-probability.js';
import { ALPHA, CONTROL_NAME, type DecisionStatus, toDecisionStatus } from './decision.js';
import { type GuardCounts, type PacketGuard, toGuards, warnOfGuards } from './guards.js';
import { adjustByHolm } from './holm.js';
import { findUnitsForRate, type PacketPlan, type PlannedControl, toPacketPlan, warnOfPlan } from './needed-units.js';
import {
  type Counts,
  findAbsoluteLift,
  findRate,
  findRelativeLift,
  toNewcombeInterval,
  toPooledPValue,
  toWilsonInterval,
} from './proportions.js';
import { findSampleRatioPValue, toExpectedSplit } from './sample-ratio.js';
import { toAlwaysValidPValue, toSequentialInterval } from './sequential-test.js';
import { toWarnings } from './warnings.js';

export interface VariantCounts extends Counts {
  readonly variantKey: string;
  /** `variant_weight` of the exposures; null when they carry none. */
  readonly weight: number | null;
}

export interface ChoiceCounts {
  readonly choiceKey: string;
  readonly conversionEvent: string;
  /** Field that identifies a unit, as written in the query. */
  readonly unit: string;
  /** One entry per variant, in any order. Units that saw several variants are excluded. */
  readonly variants: readonly VariantCounts[];
  readonly multiVariantUnits: number;
  readonly exposuresWithoutUnit: number;
  /** Units that have not converted and whose window has not ended, among those of the variants. */
  readonly immatureUnits: number;
  readonly firstExposureAtMs: number | undefined;
  readonly lastExposureAtMs: number | undefined;
  readonly guards?: readonly GuardCounts[];
  /** What `plan 10%` needs: the relative lift, and the end of the traffic so far. */
  readonly plan?: { readonly relativeLift: number; readonly untilMs: number } | undefined;
}

/**
 * Null where a figure is undefined: without units, relative to a rate of 0, and intervals of values
 * while there are few.
 */
export interface ChoicePacket {
  readonly choice_key: string;
  readonly conversion_event: string;
  readonly generated_at: string;
  readonly variants: readonly PacketVariant[];
  readonly comparisons: readonly PacketComparison[];
  readonly diagnostics: PacketDiagnostics;
  readonly warnings: readonly string[];
  readonly decision_status: DecisionStatus;
  readonly method: typeof METHOD | ValueMethod;
  /** When the query asks for it. */
  readonly plan?: PacketPlan;
}

/** Control first, then by name. */
export interface PacketVariant {
  readonly variant_key: string;
  /** Units. */
  readonly exposures: number;
  /** In results of a value: units with a value. */
  readonly conversions: number;
  /** In results of a value: the mean of the values. */
  readonly rate: number | null;
  readonly ci_low: number | null;
  readonly ci_high: number | null;
  /** Expected weight: as stated by the exposures, or 1 for all variants. */
  readonly weight: number;
}

export interface PacketComparison {
  readonly control: string;
  readonly treatment: string;
  readonly absolute_lift: number | null;
  readonly relative_lift: number | null;
  /**
   * Interval of the absolute lift, for this comparison alone and a sample size fixed in advance.
   */
  readonly ci_low: number | null;
  readonly ci_high: number | null;
  /** Both p-values are Holm's adjusted ones: they compare with alpha as they are. */
  readonly p_value: number;
  readonly always_valid_p_value: number;
  /**
   * Of the absolute lift, for all treatments and all looks together (alpha is divided by the number
   * of treatments). With one treatment it excludes 0 exactly when the always-valid p-value is below
   * alpha; with several, Holm decides a little earlier than these intervals, which have no
   * step-down form.
   */
  readonly sequential_ci_low: number | null;
  readonly sequential_ci_high: number | null;
  /**
   * Probability that the treatment has the highest rate; null with too many variants
   * (best-probability.ts).
   */
  readonly probability_best: number | null;
}

export interface PacketDiagnostics {
  /** Null while there is too little to test. */
  readonly sample_ratio_p_value: number | null;
  readonly expected_ratios: Readonly<Record<string, number>>;
  readonly multi_variant_units: number;
  readonly exposures_without_unit: number;
  readonly immature_units: number;
  readonly first_exposure_at: string | null;
  readonly last_exposure_at: string | null;
  /** When the query asks for them. */
  readonly guards?: readonly PacketGuard[];
}

/** How the results of a value were computed. */
export interface ValueMethod {
  readonly interval: 'normal';
  readonly test: 'two-sided z, separate variances';
  readonly sequential: 'asymptotic confidence sequence';
  readonly alpha: number;
  readonly correction: 'holm';
  /** The value of a unit: `sum(purchase, price)`. */
  readonly value: string;
  /** Larger values count as this one; null when none do. */
  readonly winsorized_at: number | null;
  /** Days before the exposure of `cuped`, by which lifts and their intervals are adjusted. */
  readonly cuped_days: number | null;
  /** Share of the variance that `cuped` has removed. */
  readonly variance_removed: number | null;
}

const METHOD = {
  interval: 'wilson',
  test: 'two-sided z, pooled',
  sequential: 'mSPRT',
  alpha: ALPHA,
  correction: 'holm',
} as const;

/** What the packets of conversions and of values have in common. */
export interface Frame<T extends VariantCounts> {
  readonly variants: readonly T[];
  readonly weights: readonly number[];
  readonly expectedRatios: readonly number[];
  readonly sampleRatioPValue: number | undefined;
  readonly diagnostics: PacketDiagnostics;
  readonly guardWarnings: readonly string[];
}

/** Throws a RangeError for impossible counts. */
export function toFrame<T extends VariantCounts>(counts: ChoiceCounts & { readonly variants: readonly T[] }): Frame<T> {
  counts.variants.forEach(requireCounts);
  const variants = controlFirst(counts.variants);
  const { weights, ratios } = toExpectedSplit(variants.map(({ weight }) => weight));
  const sampleRatioPValue = findSampleRatioPValue(
    variants.map(({ exposures }) => exposures),
    ratios,
  );
  const guards = toGuards(counts.guards ?? [], variants);
  const diagnostics: PacketDiagnostics = {
    sample_ratio_p_value: sampleRatioPValue ?? null,
    // From entries, so that a variant named __proto__ is a variant like any other.
    expected_ratios: Object.fromEntries(variants.map(({ variantKey }, index) => [variantKey, ratios[index] ?? 0])),
    multi_variant_units: counts.multiVariantUnits,
    exposures_without_unit: counts.exposuresWithoutUnit,
    immature_units: counts.immatureUnits,
    first_exposure_at: formatOptionalInstant(counts.firstExposureAtMs),
    last_exposure_at: formatOptionalInstant(counts.lastExposureAtMs),
    ...(guards.length > 0 && { guards }),
  };
  const guardWarnings = warnOfGuards(guards);
  return { variants, weights, expectedRatios: ratios, sampleRatioPValue, diagnostics, guardWarnings };
}

/**
 * The packet for all counts so far. Earlier looks are not needed: the always-valid p-value may be
 * compared with alpha at any look (why: sequential-test.ts). Throws a RangeError for impossible
 * counts.
 */
export function toChoicePacket(counts: ChoiceCounts, generatedAtMs: number): ChoicePacket {
  const { variants, weights, expectedRatios, sampleRatioPValue, diagnostics, guardWarnings } = toFrame(counts);
  const comparisons = compareWithControl(variants);
  const rate = variants[0] && findRate(variants[0]);
  const { planned, planWarnings } = toPlan(
    counts,
    { level: rate ?? null, isRate: true, variants: variants.length },
    (relativeLift) => findUnitsForRate(rate ?? 0, { ratios: expectedRatios, relativeLift }),
  );
  return {
    choice_key: counts.choiceKey,
    conversion_event: counts.conversionEvent,
    generated_at: formatInstant(generatedAtMs),
    variants: variants.map((variant, index) => toPacketVariant(variant, weights[index] ?? 1)),
    comparisons: toPacketComparisons(comparisons, variants),
    diagnostics,
    warnings: [
      ...toWarnings({
        ...counts,
        variants,
        expectedRatios,
        sampleRatioPValue,
        isSignificantTooEarly: comparisons.some((tested) => tested.pValue <= ALPHA && tested.alwaysValidPValue > ALPHA),
      }),
      ...guardWarnings,
      ...planWarnings,
    ],
    decision_status: toDecisionStatus({ comparisons, sampleRatioPValue }),
    method: METHOD,
    ...planned,
  };
}

interface Planned {
  readonly planned: { readonly plan?: PacketPlan };
  readonly planWarnings: readonly string[];
}

/** The plan that a query asks for, from all units so far; `findUnits` is of the relative lift. */
export function toPlan(
  { plan, variants, firstExposureAtMs }: ChoiceCounts,
  control: PlannedControl,
  findUnits: (relativeLift: number) => number | undefined,
): Planned {
  if (plan === undefined) return { planned: {}, planWarnings: [] };
  const units = variants.reduce((sum, { exposures }) => sum + exposures, 0);
  const traffic = { units, fromMs: firstExposureAtMs, untilMs: plan.untilMs };
  const planned = toPacketPlan(plan.relativeLift, findUnits(plan.relativeLift), traffic);
  const warning = warnOfPlan(planned, control);
  return { planned: { plan: planned }, planWarnings: warning === undefined ? [] : [warning] };
}

function requireCounts({ variantKey, exposures, conversions }: VariantCounts): void {
  const isWhole = Number.isSafeInteger(exposures) && Number.isSafeInteger(conversions);
  if (isWhole && conversions >= 0 && conversions <= exposures) return;
  throw new RangeError(`variant ${JSON.stringify(variantKey)} has ${conversions} conversions of ${exposures} units`);
}

/**
 * The variant named `control`, or the first by name, comes first. Names compare by code unit,
 * independent of locale.
 */
function controlFirst<T extends VariantCounts>(variants: readonly T[]): T[] {
  const rank = ({ variantKey }: VariantCounts): number => (variantKey === CONTROL_NAME ? 0 : 1);
  return [...variants].sort((a, b) => rank(a) - rank(b) || (a.variantKey < b.variantKey ? -1 : 1));
}

interface ComparisonWithControl {
  readonly control: VariantCounts;
  readonly treatment: VariantCounts;
  readonly pValue: number;
  readonly alwaysValidPValue: number;
}

function compareWithControl([control, ...treatments]: readonly VariantCounts[]): ComparisonWithControl[] {
  if (control === undefined) return [];
  const pairs = treatments.map((treatment) => ({ control, treatment }));
  const pValues = adjustByHolm(pairs.map(toPooledPValue));
  const alwaysValidPValues = adjustByHolm(pairs.map(toAlwaysValidPValue));
  return pairs.map((pair, index) => ({
    ...pair,
    pValue: pValues[index] ?? 1,
    alwaysValidPValue: alwaysValidPValues[index] ?? 1,
  }));
}

function toPacketVariant(variant: VariantCounts, weight: number): PacketVariant {
  const { low, high } = toWilsonInterval(variant, ALPHA);
  return {
    variant_key: variant.variantKey,
    exposures: variant.exposures,
    conversions: variant.conversions,
    rate: findRate(variant) ?? null,
    ci_low: low,
    ci_high: high,
    weight,
  };
}

function toPacketComparisons(
  comparisons: readonly ComparisonWithControl[],
  variants: readonly VariantCounts[],
): PacketComparison[] {
  const bestProbabilities = variants.length > VARIANTS_MAX ? [] : toBestProbabilities(variants);
  return comparisons.map((comparison, index) => {
    const interval = toNewcombeInterval(comparison, ALPHA);
    const sequential = toSequentialInterval(comparison, ALPHA / comparisons.length);
    return {
      control: comparison.control.variantKey,
      treatment: comparison.treatment.variantKey,
      absolute_lift: findAbsoluteLift(comparison) ?? null,
      relative_lift: findRelativeLift(comparison) ?? null,
      ci_low: interval.low,
      ci_high: interval.high,
      p_value: comparison.pValue,
      always_valid_p_value: comparison.alwaysValidPValue,
      sequential_ci_low: sequential.low,
      sequential_ci_high: sequential.high,
      // The control comes first among the variants, and not at all among the comparisons.
      probability_best: bestProbabilities[index + 1] ?? null,
    };
  });
}

const formatOptionalInstant = (ms: number | undefined): string | null => (ms === undefined ? null : formatInstant(ms));
