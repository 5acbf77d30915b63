// Result packet of an experiment, as the answer of `choice … results` contains it, and its verdict
// in one sentence.
import type { Answer } from '../api/answer.js';
import { verdictTexts as words } from '../texts/verdict.js';
import { exact, percent } from './format.js';

export type DecisionStatus = 'invalid' | 'collecting' | 'treatment_better' | 'control_better' | 'inconclusive';

export interface Variant {
  readonly variant_key: string;
  readonly exposures: number;
  readonly conversions: number;
  readonly rate: number | null;
  readonly ci_low: number | null;
  readonly ci_high: number | null;
  readonly weight: number;
}

export interface Comparison {
  readonly control: string;
  readonly treatment: string;
  readonly absolute_lift: number | null;
  readonly relative_lift: number | null;
  readonly ci_low: number | null;
  readonly ci_high: number | null;
  readonly always_valid_p_value: number;
  /** Null while there are too few values. */
  readonly sequential_ci_low: number | null;
  readonly sequential_ci_high: number | null;
  readonly probability_best: number | null;
}

export interface GuardComparison {
  readonly control: string;
  readonly treatment: string;
  readonly control_rate: number | null;
  readonly treatment_rate: number | null;
  readonly absolute_lift: number | null;
  readonly sequential_ci_low: number;
  readonly sequential_ci_high: number;
}

export interface Guard {
  readonly event: string;
  readonly comparisons: readonly GuardComparison[];
}

export interface Diagnostics {
  readonly sample_ratio_p_value: number | null;
  readonly expected_ratios: Readonly<Record<string, number>>;
  readonly multi_variant_units: number;
  readonly exposures_without_unit: number;
  readonly immature_units: number;
  readonly first_exposure_at: string | null;
  readonly last_exposure_at: string | null;
  readonly guards?: readonly Guard[];
}

export interface Method {
  readonly interval: string;
  readonly test: string;
  readonly sequential: string;
  readonly alpha: number;
  /** Set for results of a value, such as `sum(purchase, price)`. */
  readonly value?: string;
  readonly winsorized_at?: number | null;
  readonly cuped_days?: number | null;
  readonly variance_removed?: number | null;
}

/** Result of `plan 10%`. A field is null when it cannot be computed. */
export interface Plan {
  readonly relative_lift: number;
  readonly power: number;
  readonly units_needed: number | null;
  readonly units_left: number | null;
  readonly units_per_day: number | null;
  readonly days_left: number | null;
}

export interface ChoiceResult {
  readonly choice_key: string;
  readonly conversion_event: string;
  readonly decision_status: DecisionStatus;
  /** Control first. */
  readonly variants: readonly Variant[];
  readonly comparisons: readonly Comparison[];
  readonly diagnostics: Diagnostics;
  readonly warnings: readonly string[];
  readonly method: Method;
  readonly plan?: Plan;
}

/** Undefined for a choice without `results`. */
export const readChoice = (answer: Answer): ChoiceResult | undefined =>
  answer.decision_status === undefined ? undefined : (answer as unknown as ChoiceResult);

/** Rates are shares; the means of a value are numbers. */
export const showRate = ({ method }: ChoiceResult, rate: number | null): string =>
  rate === null ? '–' : method.value === undefined ? percent(rate) : exact(round(rate));

/** Differences of rates are points; those of means are numbers. */
export function showLift({ method }: ChoiceResult, lift: number | null): string {
  if (lift === null) return '–';
  const value = method.value === undefined ? lift * 100 : lift;
  return value.toLocaleString('en', {
    signDisplay: 'exceptZero',
    maximumFractionDigits: Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 1 ? 1 : 2,
  });
}

const round = (value: number): number => Number(value.toPrecision(4));

export type Tone = 'good' | 'bad' | 'calm';

export const TONES: Readonly<Record<DecisionStatus, Tone>> = {
  invalid: 'bad',
  collecting: 'calm',
  treatment_better: 'good',
  control_better: 'bad',
  inconclusive: 'calm',
};

export function verdictOf(result: ChoiceResult): string {
  const { decision_status: status, comparisons, variants, diagnostics } = result;
  const [first] = comparisons;
  switch (status) {
    case 'invalid': {
      const counts = variants.map((of) => words.units(exact(of.exposures), of.variant_key));
      return words.invalid(counts.join(', '), words.weights(Object.values(diagnostics.expected_ratios).map(percent)));
    }
    case 'collecting': {
      const [fewest] = [...variants].sort((a, b) => a.conversions - b.conversions || a.exposures - b.exposures);
      if (fewest === undefined || variants.length < 2) return words.oneVariant;
      return words.collecting(fewest.variant_key, exact(fewest.exposures), exact(fewest.conversions));
    }
    case 'treatment_better': {
      const better = comparisons.filter((of) => isDecided(result, of) && (of.absolute_lift ?? 0) > 0);
      const [best] = [...better].sort((a, b) => (b.absolute_lift ?? 0) - (a.absolute_lift ?? 0));
      return best === undefined ? words.aTreatment : words.better(best.treatment, best.control, ratesOf(result, best));
    }
    case 'control_better':
      if (first === undefined || comparisons.length > 1) return words.control;
      return words.better(first.control, first.treatment, ratesOf(result, first));
    case 'inconclusive': {
      if (first === undefined || comparisons.length > 1) return words.noneProven;
      const [low, high] = [first.sequential_ci_low, first.sequential_ci_high].map((lift) => showLift(result, lift));
      return words.between(first.treatment, low ?? '', `${high}${unitOf(result)}`, first.control);
    }
  }
}

export const unitOf = ({ method }: ChoiceResult): string => (method.value === undefined ? words.points : '');

const isDecided = ({ method }: ChoiceResult, of: Comparison): boolean => of.always_valid_p_value <= method.alpha;

/** Rates of both variants, the better one first. */
function ratesOf(result: ChoiceResult, { control, treatment, absolute_lift: lift }: Comparison): string {
  const rateOf = (key: string): string =>
    showRate(result, result.variants.find(({ variant_key }) => variant_key === key)?.rate ?? null);
  const isLess = (lift ?? 0) < 0;
  const [better, worse] = isLess ? [control, treatment] : [treatment, control];
  const difference = showLift(result, isLess && lift !== null ? -lift : lift);
  return words.rates(rateOf(better), rateOf(worse), `${difference}${unitOf(result)}`);
}
