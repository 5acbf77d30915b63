// Plan of choice results of a value: one row per exposed unit with its value in the window after the exposure, then mean and
// variance by variant.
import type { EventSet, ResolvedQuery } from '../../analyze/resolved.js';
import { areOfTypes, isIn } from '../../conditions/plan-events.js';
import { type PlanContext, selectEvents } from '../../people/scan.js';
import { planAnswer } from '../../plan/answer.js';
import { map } from '../../plan/behaviour.js';
import {
  alias,
  allOf,
  constant,
  type Expression,
  element,
  equals,
  infix,
  integer,
  lambda,
  NULL,
  overAll,
  tupleElement,
} from '../../plan/expressions.js';
import { isPresentField, readNumber } from '../../plan/field-expressions.js';
import { fn, quantile } from '../../plan/functions.js';
import { type Columns, extend, type Plan, type Select, type Step, select, step } from '../../plan/plan.js';
import type { ValueOutcome } from './outcome.js';
import { countRow, exposureOf, keyOf, selectExposures, TIME, variantOf } from './plan.js';
import type { ValueColumn } from './present.js';

type ChoiceResults = Extract<ResolvedQuery, { kind: 'choice_results' }>;

const WINSORIZED_ABOVE = 0.999;

/** One row per unit that was exposed: its variants, its first exposure, and times and numbers of the events of its value. */
function planUnits(query: ChoiceResults, value: ValueOutcome, context: PlanContext): Step {
  const { range, eventTypes = [] } = query.selection;
  const exposures: EventSet = { name: '', eventTypes, condition: undefined };
  const isExposure = exposureOf(query, context);
  const number = readNumber(value.field);
  const isOutcome = isIn(value.events, context.projectId);
  // A unit without numbers has no average, while a sum is 0.
  const isCounted = value.function === 'avg' ? allOf([isOutcome, fn.isNotNull(number)]) : isOutcome;
  const rows = selectEvents(context, {
    selection: {
      eventTypes: undefined,
      range: { fromMs: range.fromMs, toMs: range.toMs + query.windowMs },
      condition: undefined,
    },
    columns: {
      unit: keyOf(query.unit),
      variants: fn.groupUniqArrayIf(variantOf(query), isExposure),
      exposed_at: fn.minIf(TIME, isExposure),
      outcomes: fn.groupArrayIf(fn.tuple(TIME, fn.ifNull(number, constant(0))), isCounted),
    },
    filter: [...areOfTypes([exposures, value.events]), isPresentField(query.unit)],
    groupBy: ['unit'],
    having: fn.notEmpty(alias('variants')),
  });
  return step('exposed_units', rows);
}

/** The value of each unit. Those that saw several variants have the empty variant and no value. */
function planValuesOfUnits(query: ChoiceResults, value: ValueOutcome, context: PlanContext): Step {
  const [variants, exposedAt] = [alias('variants'), alias('exposed_at')];
  const end = infix('+', exposedAt, integer(query.windowMs));
  const isInWindow = lambda(['outcome'], (outcome) => {
    const time = tupleElement(outcome, 1);
    return allOf([infix('>=', time, exposedAt), infix('<=', time, end)]);
  });
  const gathered = extend(planUnits(query, value, context), {
    numbers: map(fn.arrayFilter(isInWindow, alias('outcomes')), 'outcome', (outcome) => tupleElement(outcome, 2)),
  });
  const numbers = alias('numbers');
  const sum = fn.arraySum(numbers);
  const isPure = equals(fn.length(variants), constant(1));
  const ofUnit =
    value.function === 'sum' ? sum : fn.if(fn.notEmpty(numbers), infix('/', sum, fn.length(numbers)), NULL);
  const columns = {
    variant: fn.if(isPure, element(variants, constant(1)), constant('')),
    value: fn.if(isPure, ofUnit, NULL),
    is_converted: fn.notEmpty(numbers),
    may_change: infix('>', end, integer(context.nowMs)),
  };
  return step('valued_units', select({ columns, from: step('units_with_numbers', gathered) }));
}

/** Values of the variants: without a row of units they are 0. */
const NO_VALUES: Record<ValueColumn, Expression> = {
  valued: constant(0),
  mean: constant(0),
  variance: constant(0),
  cap: NULL,
};

function selectValues(query: ChoiceResults, value: ValueOutcome, context: PlanContext): Select {
  const cap = value.isWinsorized ? overAll(quantile(WINSORIZED_ABOVE, alias('value'))) : NULL;
  const capped = extend(planValuesOfUnits(query, value, context), { percentile: cap });
  const percentile = alias('percentile');
  // Where fewer than one unit in a thousand has a value, the percentile is 0, and nothing is cut.
  const isCut = fn.ifNull(infix('>', percentile, constant(0)), constant(0));
  const isAbove = allOf([isCut, infix('>', alias('value'), percentile)]);
  const number = fn.if(isAbove, percentile, alias('value'));
  const columns: Columns = {
    ...countRow({
      variant: alias('variant'),
      units: fn.count(),
      conversions: fn.countIf(alias('is_converted')),
      immature: fn.countIf(alias('may_change')),
    }),
    valued: fn.countIf(fn.isNotNull(alias('value'))),
    mean: fn.ifNull(fn.avg(number), constant(0)),
    variance: fn.if(infix('>', alias('valued'), constant(1)), fn.varSampStable(number), constant(0)),
    cap: fn.any(fn.if(isCut, percentile, NULL)),
  };
  return select({ columns, from: step('capped_units', capped), groupBy: ['variant'] });
}

export function planValues(query: ChoiceResults, value: ValueOutcome, context: PlanContext): Plan {
  const { choiceKey, conversionEvent, unit, order } = query;
  const exposures = selectExposures(query, context);
  const selects = [
    selectValues(query, value, context),
    { ...exposures, columns: { ...exposures.columns, ...NO_VALUES } },
  ];
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
      { name: 'rate', type: 'number' },
      { name: 'ci_low', type: 'number' },
      { name: 'ci_high', type: 'number' },
      { name: 'weight', type: 'number' },
    ],
    presentation: {
      kind: 'choice',
      order,
      choiceKey,
      conversionEvent,
      unit: unit.name,
      value: value.written,
      nowMs: context.nowMs,
    },
  });
}
