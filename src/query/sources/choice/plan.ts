// Plan of choice results: exposures per unit, excluded units, conversions.
import type { ResolvedField, ResolvedQuery } from '../../analyze/resolved.js';
import { planCondition } from '../../conditions/plan.js';
import { isIn, isOfType } from '../../conditions/plan-events.js';
import { type PlanContext, selectEvents } from '../../people/scan.js';
import { planAnswer } from '../../plan/answer.js';
import { eventMs } from '../../plan/behaviour.js';
import {
  alias,
  allOf,
  column,
  constant,
  type Expression,
  element,
  equals,
  infix,
  instant,
  integer,
  lambda,
  NULL,
} from '../../plan/expressions.js';
import { eventPosition, isPresentField, person, readNumber, readText } from '../../plan/field-expressions.js';
import { fn } from '../../plan/functions.js';
import { type Columns, type OutputColumn, type Plan, type Select, select, step } from '../../plan/plan.js';
import { countGuards, findGuards, gatherGuards, noGuards } from './plan-guards.js';
import type { CountColumn } from './present.js';

export type ChoiceResults = Extract<ResolvedQuery, { kind: 'choice_results' }>;

/** Unit expression; the hash of an id when there is one. */
export function keyOf(unit: ResolvedField): Expression {
  if (unit.kind === 'distinct_id') return person;
  if (unit.kind === 'column' && unit.field.hash) return column(unit.field.hash);
  return fn.ifNull(readText(unit).expression, constant(''));
}

export const variantOf = ({ variant }: ChoiceResults): Expression =>
  fn.ifNull(readText(variant).expression, constant(''));

/** Exposure events in the range; conversions may come after it. */
export function exposureOf(query: ChoiceResults, { projectId }: PlanContext): Expression {
  const { eventTypes, range, condition } = query.selection;
  return allOf([
    isOfType(eventTypes ?? []),
    infix('<', column('time'), instant(range.toMs)),
    isPresentField(query.variant),
    ...(condition ? [planCondition(condition, projectId)] : []),
  ]);
}

/** A row of either kind: columns of the other kind are 0, a missing weight is null. */
export const countRow = (counts: Partial<Record<CountColumn, Expression>>): Columns => {
  const zero = constant(0);
  const none: Record<CountColumn, Expression> = {
    is_exposures: zero,
    variant: zero,
    units: zero,
    conversions: zero,
    immature: zero,
    without_unit: zero,
    weight: NULL,
    first_ms: zero,
    last_ms: zero,
  };
  return { ...none, ...counts };
};

/** Units by variant; units that saw several variants count under the empty name. */
function selectUnits(query: ChoiceResults, context: PlanContext): Select {
  const { range, eventTypes = [] } = query.selection;
  const isExposure = exposureOf(query, context);
  const isConversion = isIn(query.conversion, context.projectId);
  const guarded = query.guards.flatMap((guard) => guard.eventTypes ?? []);
  const types = [...new Set([...eventTypes, ...(query.conversion.eventTypes ?? []), ...guarded])];
  const scanned = { fromMs: range.fromMs, toMs: range.toMs + query.windowMs };
  const units = selectEvents(context, {
    selection: { eventTypes: undefined, range: scanned, condition: undefined },
    columns: {
      unit: keyOf(query.unit),
      variants: fn.groupUniqArrayIf(variantOf(query), isExposure),
      exposed_at: fn.minIf(eventMs, isExposure),
      conversion_times: fn.groupArrayIf(eventMs, isConversion),
      ...gatherGuards(query.guards, context),
    },
    filter: [isOfType(types), isPresentField(query.unit)],
    groupBy: ['unit'],
    having: fn.notEmpty(alias('variants')),
  });
  const [variants, exposedAt] = [alias('variants'), alias('exposed_at')];
  const end = infix('+', exposedAt, integer(query.windowMs));
  const isInWindow = lambda(['time'], (time) => allOf([infix('>=', time, exposedAt), infix('<=', time, end)]));
  const isConverted = fn.arrayExists(isInWindow, alias('conversion_times'));
  // A converted unit cannot convert again, so it is not immature.
  const mayConvert = allOf([infix('>', end, integer(context.nowMs)), fn.not(isConverted)]);
  const isPure = equals(fn.length(variants), constant(1));
  return select({
    columns: {
      ...countRow({
        variant: fn.if(isPure, element(variants, constant(1)), constant('')),
        units: fn.count(),
        conversions: fn.countIf(isConverted),
        immature: fn.countIf(mayConvert),
      }),
      ...countGuards(findGuards(query.guards, isInWindow)),
    },
    from: step('exposed_units', units),
    groupBy: ['variant'],
  });
}

/** Per variant: the newest weight, and the exposures without a unit. */
export const selectExposures = (query: ChoiceResults, context: PlanContext): Select =>
  selectEvents(context, {
    selection: { ...query.selection, condition: undefined },
    columns: countRow({
      is_exposures: constant(1),
      variant: variantOf(query),
      without_unit: fn.countIf(fn.not(isPresentField(query.unit))),
      weight: fn.argMax(readNumber(query.weight), eventPosition),
      first_ms: fn.min(eventMs),
      last_ms: fn.max(eventMs),
    }),
    filter: [exposureOf(query, context)],
    groupBy: ['variant'],
  });

interface ResultsOptions {
  /** The units of each variant, and their exposures: one row per variant each. */
  readonly selects: readonly Select[];
  /** Type of `rate`, `ci_low` and `ci_high`: a share of the units, or a value. */
  readonly resultType: 'rate' | 'number';
  /** What the presentation states beside the counts. */
  readonly stated?: { readonly value: string; readonly cuped?: number };
}

/**
 * The answer of an experiment, of conversions and of values alike: counts of each variant, from
 * which statistics are computed.
 */
export function planResults(query: ChoiceResults, context: PlanContext, options: ResultsOptions): Plan {
  const { selects, resultType, stated } = options;
  return planAnswer({
    query,
    range: query.selection.range,
    context,
    mode: 'choice',
    select: select({ keeps: 'all', columns: {}, from: step('counts', { kind: 'union', selects }) }),
    columns: [
      { name: 'variant_key', type: 'text' },
      { name: 'exposures', type: 'number' },
      { name: 'conversions', type: 'number' },
      ...['rate', 'ci_low', 'ci_high'].map(
        (name): OutputColumn => ({ name, type: resultType, isComputed: resultType === 'number' }),
      ),
      { name: 'weight', type: 'number' },
    ],
    presentation: {
      kind: 'choice',
      order: query.order,
      choiceKey: query.choiceKey,
      conversionEvent: query.conversionEvent,
      unit: query.unit.name,
      ...stated,
      guards: query.guards.map(({ name }) => name),
      ...(query.plannedLift !== undefined && {
        plan: { relativeLift: query.plannedLift, untilMs: Math.min(context.nowMs, query.selection.range.toMs) },
      }),
      nowMs: context.nowMs,
    },
  });
}

export function planChoice(query: ChoiceResults, context: PlanContext): Plan {
  const exposures = selectExposures(query, context);
  const selects = [
    selectUnits(query, context),
    { ...exposures, columns: { ...exposures.columns, ...noGuards(query.guards) } },
  ];
  return planResults(query, context, { selects, resultType: 'rate' });
}
