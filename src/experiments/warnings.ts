// Warnings of a choice result. Lower case and without full stop, like all warnings of queries. Each
// names its numbers and the next step, because many readers are language models.
import { VARIANTS_MAX } from './best-probability.js';
import { ALPHA, CONTROL_NAME, CONVERSIONS_MIN, EXPOSURES_MIN, isCollecting, isSplitWrong } from './decision.js';
import type { Counts } from './proportions.js';
import { isUsableWeight } from './sample-ratio.js';

interface ReportedVariant extends Counts {
  readonly variantKey: string;
  /** As stated by the exposures; null when they state none. */
  readonly weight: number | null;
}

export interface Report {
  readonly choiceKey: string;
  /** Field that identifies a unit. */
  readonly unit: string;
  /** The control first. */
  readonly variants: readonly ReportedVariant[];
  readonly expectedRatios: readonly number[];
  readonly sampleRatioPValue: number | undefined;
  /**
   * Whether a p-value of a fixed sample size is below alpha while the always-valid one of the same
   * comparison is not.
   */
  readonly isSignificantTooEarly: boolean;
  readonly multiVariantUnits: number;
  readonly exposuresWithoutUnit: number;
  readonly immatureUnits: number;
  /** Conversions of each variant before a decision. */
  readonly conversionsMin?: number;
}

/** Most serious first; empty when there is no problem. */
export function toWarnings(report: Report): string[] {
  return [
    warnOfSplit(report),
    warnOfMissingVariants(report),
    warnOfControl(report),
    warnOfWeights(report),
    warnOfSmallVariants(report),
    warnOfMultiVariantUnits(report),
    warnOfMissingUnits(report),
    warnOfImmatureUnits(report),
    warnOfEarlySignificance(report),
  ].filter((warning) => warning !== undefined);
}

function warnOfSplit({ variants, expectedRatios, sampleRatioPValue }: Report): string | undefined {
  if (sampleRatioPValue === undefined || !isSplitWrong(sampleRatioPValue)) return undefined;
  const total = sumOf(variants, ({ exposures }) => exposures);
  const shares = listOf(variants, ({ variantKey, exposures }, index) => {
    const expected = toPercent(expectedRatios[index] ?? 0);
    return `${quote(variantKey)} has ${toPercent(exposures / total)} of the units where ${expected} are expected`;
  });
  return (
    `the units are not split by the weights (p ${toPValue(sampleRatioPValue)}): ${shares}; do not read the lifts: look for ` +
    'lost or repeated exposures, forced variants and weights that were changed, then start again under a new choice key'
  );
}

function warnOfMissingVariants({ choiceKey, variants }: Report): string | undefined {
  const [only] = variants;
  if (only === undefined) {
    return (
      `no unit was exposed to choice ${quote(choiceKey)} in this range; check the key, widen the range, and see that ` +
      'clients send service.exposure events with variant_key'
    );
  }
  if (variants.length === 1) {
    return `every unit is in variant ${quote(only.variantKey)}: there is nothing to compare it with; check the weights`;
  }
  if (variants.length <= VARIANTS_MAX) return undefined;
  return (
    `there are ${variants.length} variants, and probability_best is given for ${VARIANTS_MAX} at most; check that ` +
    'variant_key names a variant and not a person'
  );
}

function warnOfControl({ variants }: Report): string | undefined {
  const [control] = variants;
  if (control === undefined || variants.length < 2 || control.variantKey === CONTROL_NAME) return undefined;
  return (
    `no variant is named ${quote(CONTROL_NAME)}, so ${quote(control.variantKey)}, the first by name, is the control; name ` +
    `the variant that the others are measured against ${quote(CONTROL_NAME)}`
  );
}

/**
 * Weights that are not stated count as equal, which is mentioned only when the split contradicts
 * it.
 */
function warnOfWeights({ variants, sampleRatioPValue }: Report): string | undefined {
  const unstated = variants.filter(({ weight }) => !isUsableWeight(weight));
  if (unstated.length === 0) return undefined;
  if (unstated.length === variants.length && !isSplitWrong(sampleRatioPValue)) return undefined;
  const names = listOf(unstated, ({ variantKey }) => quote(variantKey));
  return `no variant_weight is known of ${names}, so equal weights are expected; send it with every exposure`;
}

function warnOfSmallVariants({ variants, conversionsMin = CONVERSIONS_MIN }: Report): string | undefined {
  const small = variants.length < 2 ? [] : variants.filter((variant) => isCollecting(variant, conversionsMin));
  if (small.length === 0) return undefined;
  const counts = listOf(
    small,
    ({ variantKey, exposures, conversions }) =>
      `${quote(variantKey)} has ${count(exposures, 'unit')} and ${count(conversions, 'conversion')}`,
  );
  return `${counts}; wait until every variant has ${EXPOSURES_MIN} units and ${conversionsMin} conversions`;
}

function warnOfMultiVariantUnits({ variants, unit, multiVariantUnits }: Report): string | undefined {
  if (multiVariantUnits === 0) return undefined;
  const share = multiVariantUnits / (multiVariantUnits + sumOf(variants, ({ exposures }) => exposures));
  return (
    `${count(multiVariantUnits, 'unit')} (${toPercent(share)}) saw more than one variant and ` +
    `${areOrIs(multiVariantUnits)} left out; assign by the same id that results are counted by, here ${unit}`
  );
}

function warnOfMissingUnits({ unit, exposuresWithoutUnit }: Report): string | undefined {
  if (exposuresWithoutUnit === 0) return undefined;
  return (
    `${count(exposuresWithoutUnit, 'exposure')} without ${unit} ${areOrIs(exposuresWithoutUnit)} left out; send ${unit} with ` +
    'every exposure, or count by a unit that every exposure has'
  );
}

function warnOfImmatureUnits({ variants, immatureUnits }: Report): string | undefined {
  if (immatureUnits === 0) return undefined;
  const share =
    immatureUnits /
    Math.max(
      1,
      sumOf(variants, ({ exposures }) => exposures),
    );
  return (
    `${count(immatureUnits, 'unit')} (${toPercent(share)}) may still convert, because the window after the exposure has not ` +
    'ended; rates may rise, so look again when it has'
  );
}

function warnOfEarlySignificance({ isSignificantTooEarly, sampleRatioPValue }: Report): string | undefined {
  if (!isSignificantTooEarly || isSplitWrong(sampleRatioPValue)) return undefined;
  return (
    `a p_value is below ${ALPHA}, which counts only for a sample size that was fixed in advance; wait until ` +
    `always_valid_p_value is`
  );
}

/**
 * Names come from clients: cut to a maximum length, and quoted to separate them from the sentence.
 */
const NAME_CHARACTERS_MAX = 64;
const NAMES_MAX = 5;

/** The first 64 characters of a longer name. */
export function shortenName(name: string): string {
  const characters = [...name];
  return characters.length > NAME_CHARACTERS_MAX ? `${characters.slice(0, NAME_CHARACTERS_MAX).join('')}…` : name;
}

const quote = (name: string): string => JSON.stringify(shortenName(name));

function listOf<T>(items: readonly T[], describe: (item: T, index: number) => string): string {
  const shown = items.slice(0, NAMES_MAX).map(describe);
  return items.length > NAMES_MAX ? `${shown.join(', ')} and ${items.length - NAMES_MAX} more` : shown.join(', ');
}

const sumOf = <T>(items: readonly T[], amount: (item: T) => number): number =>
  items.reduce((sum, item) => sum + amount(item), 0);

const count = (amount: number, noun: string): string => `${amount} ${noun}${amount === 1 ? '' : 's'}`;
const areOrIs = (amount: number): string => (amount === 1 ? 'is' : 'are');
const toPercent = (share: number): string => `${(share * 100).toFixed(1)} %`;
const toPValue = (pValue: number): string => (pValue < 1e-12 ? '< 1e-12' : `= ${pValue.toPrecision(2)}`);
