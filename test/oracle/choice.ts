// Reference implementation of the results of a choice experiment, without statistics: assignment,
// exclusion and conversion.
import { ratio, sumOf } from './aggregate.js';
import { type Interval, intervalOf, lengthOf, toRfc3339 } from './calendar.js';
import { planOf } from './choice-plan.js';
import { valuesOf } from './choice-values.js';
import { EVER, EXPOSURE, eventsOf, isExposureOf } from './events.js';
import { eventField } from './fields.js';
import { stepName } from './funnel.js';
import { type Event, propertyOf } from './history.js';
import type { ChoiceQuestion } from './question.js';
import { type Answer, inAnyOrder } from './table.js';
import { compareText, numberOf, textOf } from './values.js';
import type { World } from './world.js';

export interface Unit {
  readonly variant: string;
  readonly exposedAt: number;
}

/** The tests of the statistics cover these. */
const INTERVAL = { ci_low: null, ci_high: null };

type Results = NonNullable<ChoiceQuestion['results']>;

export function answerChoice(question: ChoiceQuestion, results: Results, world: World): Answer {
  const { now } = world.clock;
  const interval = intervalOf(question.range, { count: 30, unit: 'd' }, world.clock);
  const window = lengthOf(results.window ?? { count: 7, unit: 'd' });
  const exposures = exposuresOf(question, interval, world);
  const read = eventField(world);
  // Reading: an empty unit counts as no unit.
  const unitOf = (event: Event) => textOf(read(event, results.unit ?? 'distinct_id')) || undefined;
  const { units, mixed, withoutUnit } = assigned(exposures, unitOf);
  const { value } = results;
  // Reading: a conversion may come after the range, which bounds the exposures; the end of the
  // window is included.
  const isInWindow = (event: Event): boolean => {
    const id = unitOf(event);
    const unit = id === undefined ? undefined : units.get(id);
    return unit !== undefined && event.time >= unit.exposedAt && event.time <= unit.exposedAt + window;
  };
  const outcomes = eventsOf(world, value ? value.event : results.event, EVER).filter(isInWindow);
  const values = value && valuesOf(value, { units, events: outcomes, unitOf, world });
  const converted = values?.converted ?? new Set(outcomes.map(unitOf));
  const weights = weightsOf(exposures);
  const rows = [...weights].map(([variant_key, weight]) => {
    const own = [...units].filter(([, unit]) => unit.variant === variant_key).map(([id]) => id);
    const conversions = own.filter((id) => converted.has(id)).length;
    return {
      variant_key,
      exposures: own.length,
      conversions,
      rate: values ? values.meanOf(own) : ratio(conversions, own.length),
      ...INTERVAL,
      weight,
    };
  });
  const times = exposures.map((event) => event.time);
  const samples = rows.map(({ variant_key, exposures: size, conversions }) => {
    const own = [...units].filter(([, unit]) => unit.variant === variant_key).map(([id]) => id);
    return { variant: variant_key, units: size, conversions, numbers: values?.numbersOf(own) };
  });
  const beside = {
    ...(results.plan !== undefined && {
      plan: planOf(results.plan / 100, {
        samples,
        shares: shares(weights),
        isAdjusted: results.cuped !== undefined,
        days: (Math.min(now, interval.end) - Math.min(...times)) / 86_400_000,
      }),
    }),
    choice_key: question.choice,
    conversion_event: value ? stepName(value.event ?? '*') : results.event,
    diagnostics: {
      expected_ratios: shares(weights),
      multi_variant_units: mixed,
      exposures_without_unit: withoutUnit,
      immature_units: [...units].filter(
        ([id, unit]) => unit.exposedAt + window > now && !(value === undefined && converted.has(id)),
      ).length,
      first_exposure_at: times.length === 0 ? null : toRfc3339(Math.min(...times)),
      last_exposure_at: times.length === 0 ? null : toRfc3339(Math.max(...times)),
    },
  };
  const columns = ['variant_key', 'exposures', 'conversions', 'rate', 'ci_low', 'ci_high', 'weight'];
  return { mode: 'choice', columns, open: ['ci_low', 'ci_high'], beside, ...inAnyOrder(rows) };
}

const variantOf = (event: Event): string | undefined => textOf(propertyOf(event.event_properties, 'variant_key'));

/** Reading: an exposure without a variant counts for no variant. */
function exposuresOf(question: ChoiceQuestion, interval: Interval, world: World): Event[] {
  return eventsOf(world, EXPOSURE, interval, question.where)
    .filter(isExposureOf(question.choice))
    .filter((event) => variantOf(event));
}

interface Assignment {
  readonly units: ReadonlyMap<string, Unit>;
  /** Number of units that saw several variants. */
  readonly mixed: number;
  readonly withoutUnit: number;
}

/**
 * Assigns a unit to the variant of its first exposure in the range; a unit that saw several
 * variants is excluded.
 */
function assigned(exposures: readonly Event[], unitOf: (event: Event) => string | undefined): Assignment {
  const units = new Map<string, Unit>();
  const mixed = new Set<string>();
  let withoutUnit = 0;
  for (const event of exposures) {
    const id = unitOf(event);
    const variant = variantOf(event) ?? '';
    const known = id === undefined ? undefined : units.get(id);
    if (id === undefined) withoutUnit += 1;
    else if (known === undefined) units.set(id, { variant, exposedAt: event.time });
    else if (known.variant !== variant) mixed.add(id);
  }
  for (const id of mixed) units.delete(id);
  return { units, mixed: mixed.size, withoutUnit };
}

/**
 * Every variant exposed in the range, with its weight. Reading: the weight of its newest exposure
 * with one; if any variant has none, all are equal; a variant whose units are all excluded still
 * has a row.
 */
function weightsOf(exposures: readonly Event[]): Map<string, number> {
  const weights = new Map<string, number | undefined>();
  for (const event of exposures) {
    const variant = variantOf(event) ?? '';
    weights.set(variant, numberOf(propertyOf(event.event_properties, 'variant_weight')) ?? weights.get(variant));
  }
  const isKnown = [...weights.values()].every((weight) => weight !== undefined && weight > 0);
  const byName = [...weights].sort(([a], [b]) => compareText(a, b));
  return new Map(byName.map(([variant, weight]) => [variant, isKnown ? (weight ?? 1) : 1]));
}

function shares(weights: ReadonlyMap<string, number>): Record<string, number> {
  const total = sumOf([...weights.values()]);
  return Object.fromEntries([...weights].map(([variant, weight]) => [variant, weight / total]));
}
