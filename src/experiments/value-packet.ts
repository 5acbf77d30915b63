// Assembles the result packet of an experiment of value, as sum(purchase, price) per unit: means of
// the units, compared by an asymptotic confidence sequence. Its fields are those of the packet of
// conversions; `rate` is the mean.
import { formatInstant } from '../platform/instant.js';
import { findBestProbabilitiesOfMeans, VARIANTS_MAX } from './best-probability.js';
import { findMeanSequence, toAlwaysValidMeanPValue } from './confidence-sequence.js';
import { ALPHA, isCollecting, toDecisionStatus, VALUES_MIN } from './decision.js';
import { adjustByHolm } from './holm.js';
import {
  adjustByEarlier,
  findLiftInterval,
  findMeanLift,
  findRelativeMeanLift,
  type Moments,
  type MomentsBefore,
  toMeanInterval,
  toMeanPValue,
} from './means.js';
import { findUnitsForMean, type ValuesSoFar } from './needed-units.js';
import {
  type ChoiceCounts,
  type ChoicePacket,
  type PacketComparison,
  type PacketVariant,
  toFrame,
  toPlan,
  type VariantCounts,
} from './packet.js';
import { toWarnings } from './warnings.js';

/** `units` are those whose value counts: all, or those with one. */
export interface VariantValues extends VariantCounts, MomentsBefore {}

export interface ValueCounts extends ChoiceCounts {
  readonly variants: readonly VariantValues[];
  /** As the query has it. */
  readonly value: string;
  readonly winsorizedAt: number | null;
  /** Days before the exposure whose value reduces the variance. */
  readonly cuped?: number | undefined;
}

interface Tested {
  readonly control: VariantValues;
  readonly treatment: VariantValues;
  readonly lift: number | undefined;
  readonly pValue: number;
  readonly alwaysValidPValue: number;
}

export function toValuePacket(counts: ValueCounts, generatedAtMs: number): ChoicePacket {
  const { variants, weights, expectedRatios, sampleRatioPValue, diagnostics, guardWarnings } =
    toFrame<VariantValues>(counts);
  const compared = counts.cuped === undefined ? variants : adjustByEarlier(variants);
  const comparisons = compareWithControl(compared);
  const [control] = compared;
  const { planned, planWarnings } = toPlan(
    counts,
    { level: control?.units ? control.mean : null, isRate: false, variants: variants.length },
    (relativeLift) =>
      findUnitsForMean(toValuesSoFar(control?.mean ?? 0, compared), { ratios: expectedRatios, relativeLift }),
  );
  return {
    choice_key: counts.choiceKey,
    conversion_event: counts.conversionEvent,
    generated_at: formatInstant(generatedAtMs),
    variants: variants.map((variant, index) => toPacketVariant(variant, weights[index] ?? 1)),
    comparisons: toPacketComparisons(comparisons, compared),
    diagnostics,
    warnings: [
      ...toWarnings({
        ...counts,
        variants,
        expectedRatios,
        sampleRatioPValue,
        conversionsMin: VALUES_MIN,
        isSignificantTooEarly: comparisons.some(
          (tested) => !isEarly(tested) && tested.pValue <= ALPHA && tested.alwaysValidPValue > ALPHA,
        ),
      }),
      ...guardWarnings,
      ...planWarnings,
    ],
    decision_status: toDecisionStatus({ comparisons, sampleRatioPValue, conversionsMin: VALUES_MIN }),
    method: {
      interval: 'normal',
      test: 'two-sided z, separate variances',
      sequential: 'asymptotic confidence sequence',
      alpha: ALPHA,
      correction: 'holm',
      value: counts.value,
      winsorized_at: counts.winsorizedAt,
      cuped_days: counts.cuped ?? null,
      variance_removed: counts.cuped === undefined ? null : removedVariance(variants, compared),
    },
    ...planned,
  };
}

/** Values of all variants together; the variance is that within variants. */
function toValuesSoFar(mean: number, variants: readonly VariantValues[]): ValuesSoFar {
  const total = (of: (variant: VariantValues) => number): number =>
    variants.reduce((sum, variant) => sum + of(variant), 0);
  const freedom = total(({ units }) => Math.max(0, units - 1));
  const exposures = total((variant) => variant.exposures);
  return {
    mean,
    variance: freedom === 0 ? 0 : total(({ units, variance }) => Math.max(0, units - 1) * variance) / freedom,
    countedShare: exposures === 0 ? 0 : total(({ units }) => units) / exposures,
    convertedShare: exposures === 0 ? 0 : total(({ conversions }) => conversions) / exposures,
  };
}

/** Share of the variance within variants that is gone; null where there was none. */
function removedVariance(before: readonly Moments[], after: readonly Moments[]): number | null {
  const total = (of: readonly Moments[]): number =>
    of.reduce((sum, { units, variance }) => sum + Math.max(0, units - 1) * variance, 0);
  return total(before) > 0 ? 1 - total(after) / total(before) : null;
}

/** The sequence is asymptotic: before there are enough values it says nothing. */
const isEarly = ({ control, treatment }: Pick<Tested, 'control' | 'treatment'>): boolean =>
  isCollecting(control, VALUES_MIN) || isCollecting(treatment, VALUES_MIN);

function compareWithControl([control, ...treatments]: readonly VariantValues[]): Tested[] {
  if (control === undefined) return [];
  const pairs = treatments.map((treatment) => ({ control, treatment }));
  const pValues = adjustByHolm(pairs.map(toMeanPValue));
  const alwaysValid = adjustByHolm(pairs.map((pair) => (isEarly(pair) ? 1 : toAlwaysValidMeanPValue(pair))));
  return pairs.map((pair, index) => ({
    ...pair,
    lift: findMeanLift(pair),
    pValue: pValues[index] ?? 1,
    alwaysValidPValue: alwaysValid[index] ?? 1,
  }));
}

function toPacketVariant(variant: VariantValues, weight: number): PacketVariant {
  const { variantKey, exposures, conversions, units, mean } = variant;
  const interval = units < 2 ? undefined : toMeanInterval(variant, ALPHA);
  return {
    variant_key: variantKey,
    exposures,
    conversions,
    rate: units === 0 ? null : mean,
    ci_low: interval?.low ?? null,
    ci_high: interval?.high ?? null,
    weight,
  };
}

function toPacketComparisons(comparisons: readonly Tested[], variants: readonly VariantValues[]): PacketComparison[] {
  const best = variants.length > VARIANTS_MAX ? undefined : findBestProbabilitiesOfMeans(variants);
  return comparisons.map((tested, index) => {
    const interval = findLiftInterval(tested, ALPHA);
    const sequence = isEarly(tested) ? undefined : findMeanSequence(tested, ALPHA / comparisons.length);
    return {
      control: tested.control.variantKey,
      treatment: tested.treatment.variantKey,
      absolute_lift: tested.lift ?? null,
      relative_lift: findRelativeMeanLift(tested) ?? null,
      ci_low: interval?.low ?? null,
      ci_high: interval?.high ?? null,
      p_value: tested.pValue,
      always_valid_p_value: tested.alwaysValidPValue,
      sequential_ci_low: sequence?.low ?? null,
      sequential_ci_high: sequence?.high ?? null,
      // The control comes first among the variants, and not at all among the comparisons.
      probability_best: best?.[index + 1] ?? null,
    };
  });
}
