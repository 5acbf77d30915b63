// Converts the engine's rows of choice results to an answer: the packet with its statistics, and a
// row per variant.
import { type ChoicePacket, toChoicePacket, type VariantCounts } from '../../../experiments/packet.js';
import type { Presented } from '../../cells.js';
import type { PostProcess } from '../../plan/plan.js';

type ChoiceResults = Extract<PostProcess, { kind: 'choice' }>;

/** Columns of the engine's rows, in their order: units of a variant, or (`is_exposures`) its exposures. */
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

interface Counts extends Readonly<Record<Exclude<CountColumn, 'variant' | 'weight'>, number>> {
  readonly variant: string;
  readonly weight: number | null;
}

const toCounts = (row: readonly unknown[]): Counts =>
  Object.fromEntries(COUNT_COLUMNS.map((name, index) => [name, row[index]])) as unknown as Counts;

/** Key of units that saw several variants; no variant has an empty name. */
const SEVERAL = '';

export function presentChoice(asked: ChoiceResults, rows: readonly (readonly unknown[])[]): Presented {
  const packet = toPacket(asked, rows.map(toCounts));
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
    footnotes: describe(packet),
  };
}

function toPacket(asked: ChoiceResults, rows: readonly Counts[]): ChoicePacket {
  const { choiceKey, conversionEvent, unit, nowMs } = asked;
  const exposures = rows.filter((row) => row.is_exposures === 1);
  const units = new Map(rows.filter((row) => row.is_exposures === 0).map((row) => [row.variant, row]));
  const variants = exposures.map(({ variant, weight }): VariantCounts => {
    const counts = units.get(variant);
    return { variantKey: variant, exposures: counts?.units ?? 0, conversions: counts?.conversions ?? 0, weight };
  });
  const counted = [...units.values()].filter(({ variant }) => variant !== SEVERAL);
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
  return toChoicePacket(
    {
      choiceKey,
      conversionEvent,
      unit,
      variants,
      multiVariantUnits: units.get(SEVERAL)?.units ?? 0,
      exposuresWithoutUnit: sum(exposures.map((row) => row.without_unit)),
      immatureUnits: sum(counted.map((row) => row.immature)),
      firstExposureAtMs: exposures.length > 0 ? Math.min(...exposures.map((row) => row.first_ms)) : undefined,
      lastExposureAtMs: exposures.length > 0 ? Math.max(...exposures.map((row) => row.last_ms)) : undefined,
    },
    nowMs,
  );
}

const percent = (share: number | null): string => (share === null ? 'none' : `${Number((share * 100).toFixed(2))}%`);

/** Text of the decision: its basis, a line for each comparison, and the warnings. */
function describe({ decision_status, comparisons, warnings }: ChoicePacket): string[] {
  const lines = comparisons.map(
    (of) =>
      `${of.treatment} against ${of.control}: lift ${percent(of.absolute_lift)} (${percent(of.ci_low)} to ` +
      `${percent(of.ci_high)}), always-valid p-value ${Number(of.always_valid_p_value.toFixed(4))}.`,
  );
  return [`Decision: ${decision_status}.`, ...lines, ...warnings.map((warning) => `Warning: ${warning}.`)];
}
