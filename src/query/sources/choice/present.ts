// Converts the engine's rows of choice results to an answer: the packet with its statistics, and a
// row per variant.
import { type ChoicePacket, toChoicePacket } from '../../../experiments/packet.js';
import { toValuePacket, type VariantValues } from '../../../experiments/value-packet.js';
import type { Presented } from '../../cells.js';
import type { PostProcess } from '../../plan/plan.js';
import { roundNumber } from '../../round-number.js';
import { describeChoice } from './describe.js';

type ChoiceResults = Extract<PostProcess, { kind: 'choice' }>;

/**
 * Columns of the engine's rows, in their order: units of a variant, or (`is_exposures`) its
 * exposures.
 */
const COUNT_COLUMNS = [
  'is_exposures',
  'variant',
  'units',
  'conversions',
  'immature',
  'without_unit',
  'weight',
  'first_ms',
  'last_ms',
] as const;

export type CountColumn = (typeof COUNT_COLUMNS)[number];

/**
 * Further columns of results of a value: units whose value counts, mean and variance, and what
 * larger values count as.
 */
const VALUE_COLUMNS = ['valued', 'mean', 'variance', 'cap', 'earlier_mean', 'earlier_variance', 'covariance'] as const;

export type ValueColumn = (typeof VALUE_COLUMNS)[number];

interface Counts extends Readonly<Record<Exclude<CountColumn, 'variant' | 'weight'>, number>> {
  readonly variant: string;
  readonly weight: number | null;
  readonly valued?: number;
  readonly mean?: number;
  readonly variance?: number;
  readonly cap?: number | null;
  readonly earlier_mean?: number;
  readonly earlier_variance?: number;
  readonly covariance?: number;
  /** Units with each guard. */
  readonly guards?: readonly number[];
}

const toCounts =
  ({ value }: ChoiceResults) =>
  (row: readonly unknown[]): Counts => {
    const names = [...COUNT_COLUMNS, ...(value === undefined ? [] : VALUE_COLUMNS), 'guards'];
    return Object.fromEntries(names.map((name, index) => [name, row[index]])) as unknown as Counts;
  };

/** Key of units that saw several variants; no variant has an empty name. */
const SEVERAL = '';

export function presentChoice(asked: ChoiceResults, rows: readonly (readonly unknown[])[]): Presented {
  const packet = toPacket(asked, rows.map(toCounts(asked)));
  return {
    rows: packet.variants.map((of) => [
      of.variant_key,
      of.exposures,
      of.conversions,
      of.rate,
      of.ci_low,
      of.ci_high,
      of.weight,
    ]),
    extraFields: { ...packet },
    footnotes: describeChoice(packet, { hasMeans: asked.value !== undefined }),
  };
}

function toPacket(asked: ChoiceResults, rows: readonly Counts[]): ChoicePacket {
  const { choiceKey, conversionEvent, unit, value, guards = [], plan, nowMs } = asked;
  const exposures = rows.filter((row) => row.is_exposures === 1);
  const units = new Map(rows.filter((row) => row.is_exposures === 0).map((row) => [row.variant, row]));
  const variants = exposures.map(({ variant, weight }): VariantValues => {
    const counts = units.get(variant);
    return {
      variantKey: variant,
      exposures: counts?.units ?? 0,
      conversions: counts?.conversions ?? 0,
      weight,
      units: counts?.valued ?? 0,
      mean: counts?.mean ?? 0,
      variance: counts?.variance ?? 0,
      earlierMean: counts?.earlier_mean ?? 0,
      earlierVariance: counts?.earlier_variance ?? 0,
      covariance: counts?.covariance ?? 0,
    };
  });
  const counted = [...units.values()].filter(({ variant }) => variant !== SEVERAL);
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
  const all = {
    choiceKey,
    conversionEvent,
    unit,
    plan,
    variants,
    multiVariantUnits: units.get(SEVERAL)?.units ?? 0,
    exposuresWithoutUnit: sum(exposures.map((row) => row.without_unit)),
    immatureUnits: sum(counted.map((row) => row.immature)),
    firstExposureAtMs: exposures.length > 0 ? Math.min(...exposures.map((row) => row.first_ms)) : undefined,
    lastExposureAtMs: exposures.length > 0 ? Math.max(...exposures.map((row) => row.last_ms)) : undefined,
    guards: guards.map((event, index) => ({
      event,
      units: new Map(counted.map((row) => [row.variant, row.guards?.[index] ?? 0])),
    })),
  };
  if (value === undefined) return toChoicePacket(all, nowMs);
  const cap = counted.map((variant) => variant.cap).find((number) => typeof number === 'number');
  const winsorizedAt = cap === undefined ? null : roundNumber(cap);
  return toValuePacket({ ...all, value, winsorizedAt, cuped: asked.cuped }, nowMs);
}
