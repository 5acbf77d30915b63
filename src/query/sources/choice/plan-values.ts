// Plan of choice results of a value: one row per exposed unit with its value in the window after
// the exposure, then mean and variance by variant.
import type { EventSet } from '../../analyze/resolved.js';
import { areOfTypes, isIn } from '../../conditions/plan-events.js';
import { type PlanContext, selectEvents } from '../../people/scan.js';
import { eventMs, map } from '../../plan/behaviour.js';
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
  overAll,
  tupleElement,
} from '../../plan/expressions.js';
import { isPresentField, readNumber } from '../../plan/field-expressions.js';
import { fn, quantile } from '../../plan/functions.js';
import { type Columns, extend, type Plan, type Select, type Step, select, step } from '../../plan/plan.js';
import { EARLIEST_MS } from '../../time/range.js';
import type { ValueOutcome } from './outcome.js';
import { type ChoiceResults, countRow, exposureOf, keyOf, planResults, selectExposures, variantOf } from './plan.js';
import { countGuards, findGuards, gatherGuards, noGuards } from './plan-guards.js';
import type { ValueColumn } from './present.js';

const WINSORIZED_ABOVE = 0.999;
const DAY_MS = 86_400_000;

/**
 * One row per unit that was exposed: its variants, its first exposure, and times and numbers of the
 * events of its value.
 */
function planUnits(query: ChoiceResults, value: ValueOutcome, context: PlanContext): Step {
  const { range, eventTypes = [] } = query.selection;
  const exposures: EventSet = { name: '', eventTypes, condition: undefined };
  const { beforeMs = 0 } = query;
  const isAfterStart = beforeMs > 0 ? [infix('>=', column('time'), instant(range.fromMs))] : [];
  const isExposure = allOf([exposureOf(query, context), ...isAfterStart]);
  const number = readNumber(value.field);
  const isOutcome = isIn(value.events, context.projectId);
  // A unit without numbers has no average, while a sum is 0.
  const isCounted = value.function === 'avg' ? allOf([isOutcome, fn.isNotNull(number)]) : isOutcome;
  const rows = selectEvents(context, {
    selection: {
      eventTypes: undefined,
      range: { fromMs: Math.max(EARLIEST_MS, range.fromMs - beforeMs), toMs: range.toMs + query.windowMs },
      condition: undefined,
    },
    columns: {
      unit: keyOf(query.unit),
      variants: fn.groupUniqArrayIf(variantOf(query), isExposure),
      exposed_at: fn.minIf(eventMs, isExposure),
      outcomes: fn.groupArrayIf(fn.tuple(eventMs, fn.ifNull(number, constant(0))), isCounted),
      ...gatherGuards(query.guards, context),
    },
    filter: [...areOfTypes([exposures, value.events, ...query.guards]), isPresentField(query.unit)],
    groupBy: ['unit'],
    having: fn.notEmpty(alias('variants')),
  });
  return step('exposed_units', rows);
}

/** The value of each unit. Those that saw several variants have the empty variant and no value. */
function planValuesOfUnits(query: ChoiceResults, value: ValueOutcome, context: PlanContext): Step {
  const [variants, exposedAt] = [alias('variants'), alias('exposed_at')];
  const end = infix('+', exposedAt, integer(query.windowMs));
  const isWithin = (time: Expression): Expression => allOf([infix('>=', time, exposedAt), infix('<=', time, end)]);
  const isInWindow = lambda(['outcome'], (outcome) => isWithin(tupleElement(outcome, 1)));
  const { beforeMs } = query;
  const isBefore = lambda(['outcome'], (outcome) => {
    const time = tupleElement(outcome, 1);
    return allOf([infix('<', time, exposedAt), infix('>=', time, infix('-', exposedAt, integer(beforeMs ?? 0)))]);
  });
  const isTimeInWindow = lambda(['time'], isWithin);
  const gathered = extend(planUnits(query, value, context), {
    numbers: map(fn.arrayFilter(isInWindow, alias('outcomes')), 'outcome', numberOf),
    ...(beforeMs !== undefined && {
      before: fn.arraySum(map(fn.arrayFilter(isBefore, alias('outcomes')), 'outcome', numberOf)),
    }),
  });
  const numbers = alias('numbers');
  const sum = fn.arraySum(numbers);
  const isPure = equals(fn.length(variants), constant(1));
  const ofUnit =
    value.function === 'sum' ? sum : fn.if(fn.notEmpty(numbers), infix('/', sum, fn.length(numbers)), NULL);
  const columns = {
    variant: fn.if(isPure, element(variants, constant(1)), constant('')),
    value: fn.if(isPure, ofUnit, NULL),
    ...(beforeMs !== undefined && { earlier: fn.if(isPure, alias('before'), NULL) }),
    is_converted: fn.notEmpty(numbers),
    may_change: infix('>', end, integer(context.nowMs)),
    ...Object.fromEntries(findGuards(query.guards, isTimeInWindow).map((found, index) => [guardName(index), found])),
  };
  return step('valued_units', select({ columns, from: step('units_with_numbers', gathered) }));
}

const guardName = (index: number): string => `has_guard_${index + 1}`;

/** Values of the variants: without a row of units they are 0. */
const NO_VALUES: Record<ValueColumn, Expression> = {
  valued: constant(0),
  mean: constant(0),
  variance: constant(0),
  cap: NULL,
  earlier_mean: constant(0),
  earlier_variance: constant(0),
  covariance: constant(0),
};

const numberOf = (outcome: Expression): Expression => tupleElement(outcome, 2);

/** The percentile of a value over all units, above which it is cut; null where nothing is. */
const percentileOf = (name: string, { isWinsorized }: ValueOutcome): Expression =>
  isWinsorized ? overAll(quantile(WINSORIZED_ABOVE, alias(name))) : NULL;

// Where fewer than one unit in a thousand has a value, the percentile is 0, and nothing is cut.
const isCutAt = (percentile: Expression): Expression => fn.ifNull(infix('>', percentile, constant(0)), constant(0));

const cutAt = (value: Expression, percentile: Expression): Expression =>
  fn.if(allOf([isCutAt(percentile), infix('>', value, percentile)]), percentile, value);

function selectValues(query: ChoiceResults, value: ValueOutcome, context: PlanContext): Select {
  const hasEarlier = query.beforeMs !== undefined;
  const capped = extend(planValuesOfUnits(query, value, context), {
    percentile: percentileOf('value', value),
    ...(hasEarlier && { earlier_percentile: percentileOf('earlier', value) }),
  });
  const percentile = alias('percentile');
  const number = cutAt(alias('value'), percentile);
  const earlier = cutAt(alias('earlier'), alias('earlier_percentile'));
  const ofSeveral = (statistic: Expression): Expression =>
    fn.if(infix('>', alias('valued'), constant(1)), statistic, constant(0));
  const columns: Columns = {
    ...countRow({
      variant: alias('variant'),
      units: fn.count(),
      conversions: fn.countIf(alias('is_converted')),
      immature: fn.countIf(alias('may_change')),
    }),
    valued: fn.countIf(fn.isNotNull(alias('value'))),
    mean: fn.ifNull(fn.avg(number), constant(0)),
    variance: ofSeveral(fn.varSampStable(number)),
    cap: fn.any(fn.if(isCutAt(percentile), percentile, NULL)),
    earlier_mean: hasEarlier ? fn.ifNull(fn.avg(earlier), constant(0)) : constant(0),
    earlier_variance: hasEarlier ? ofSeveral(fn.varSampStable(earlier)) : constant(0),
    covariance: hasEarlier ? ofSeveral(fn.covarSampStable(number, earlier)) : constant(0),
    ...countGuards(query.guards.map((_, index) => alias(guardName(index)))),
  };
  return select({ columns, from: step('capped_units', capped), groupBy: ['variant'] });
}

export function planValues(query: ChoiceResults, value: ValueOutcome, context: PlanContext): Plan {
  const exposures = selectExposures(query, context);
  const selects = [
    selectValues(query, value, context),
    { ...exposures, columns: { ...exposures.columns, ...NO_VALUES, ...noGuards(query.guards) } },
  ];
  const { beforeMs } = query;
  const stated = { value: value.written, ...(beforeMs !== undefined && { cuped: beforeMs / DAY_MS }) };
  return planResults(query, context, { selects, resultType: 'number', stated });
}
