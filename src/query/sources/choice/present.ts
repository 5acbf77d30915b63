// Converts the engine's rows of choice results to an answer: the packet with its statistics, and a
// row per variant.
import { type ChoicePacket, toChoicePacket, type VariantCounts } from '../../../experiments/packet.js';
import type { Presented } from '../../cells.js';
import type { PostProcess } from '../../plan/plan.js';

type ChoiceResults = Extract<PostProcess, { kind: 'choice' }>;

/** As ClickHouse returns them: kind, variant, three counts, weight, first and last exposure. */
type CountRow = readonly [number, string, number, number, number, number | null, number, number];
const UNITS = 0;
/** Key of units that saw several variants; no variant has an empty name. */
const SEVERAL = '';

export function presentChoice(asked: ChoiceResults, rows: readonly (readonly unknown[])[]): Presented {
  const packet = toPacket(asked, rows as readonly CountRow[]);
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

function toPacket(asked: ChoiceResults, rows: readonly CountRow[]): ChoicePacket {
  const { choiceKey, conversionEvent, unit, nowMs } = asked;
  const units = new Map(rows.filter(([kind]) => kind === UNITS).map((row) => [row[1], row]));
  const exposures = rows.filter(([kind]) => kind !== UNITS);
  const variants = exposures.map(([, variantKey, , , , weight]): VariantCounts => {
    const [, , seen = 0, converted = 0] = units.get(variantKey) ?? [];
    return { variantKey, exposures: Number(seen), conversions: Number(converted), weight };
  });
  const counted = [...units.values()].filter(([, variant]) => variant !== SEVERAL);
  const firsts = exposures.map((row) => Number(row[6]));
  const lasts = exposures.map((row) => Number(row[7]));
  return toChoicePacket(
    {
      choiceKey,
      conversionEvent,
      unit,
      variants,
      multiVariantUnits: Number(units.get(SEVERAL)?.[2] ?? 0),
      exposuresWithoutUnit: exposures.reduce((sum, row) => sum + Number(row[2]), 0),
      immatureUnits: counted.reduce((sum, row) => sum + Number(row[4]), 0),
      firstExposureAtMs: firsts.length > 0 ? Math.min(...firsts) : undefined,
      lastExposureAtMs: lasts.length > 0 ? Math.max(...lasts) : undefined,
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
