// Plan of choice results: exposures per unit, excluded units, conversions.
import type { ResolvedField, ResolvedQuery } from '../../analyze/resolved.js';
import { planCondition } from '../../conditions/plan.js';
import { isOfType } from '../../conditions/plan-events.js';
import { integer, mapEach } from '../../plan/behaviour.js';
import {
  alias,
  allOf,
  call,
  column,
  constant,
  equals,
  infix,
  instantParameter,
  not,
  textParameter,
} from '../../plan/expressions.js';
import { actor, eventPosition, isPresentField, readNumber, readText } from '../../plan/field-expressions.js';
import type { Expression, Plan, Select, SelectColumn } from '../../plan/plan.js';
import { type PlanContext, pageOf, passThrough, scanEvents } from '../events/plan.js';

type ChoiceResults = Extract<ResolvedQuery, { kind: 'choice_results' }>;

const TIME = call('toUnixTimestamp64Milli', column('time'));

/** Unit expression; the hash of an id when there is one. */
function keyOf(unit: ResolvedField): Expression {
  if (unit.kind === 'distinct_id') return actor;
  if (unit.kind === 'column' && unit.field.hash) return column(unit.field.hash);
  return call('ifNull', readText(unit).expression, constant(''));
}

const variantOf = ({ variant }: ChoiceResults): Expression =>
  call('ifNull', readText(variant).expression, constant(''));

/** Exposure events in the range; conversions may come after it. */
function exposureOf(query: ChoiceResults, { projectId }: PlanContext): Expression {
  const { eventTypes, range, condition } = query.selection;
  return allOf([
    isOfType(eventTypes ?? []),
    infix('<', column('time'), instantParameter(range.toMs)),
    isPresentField(query.variant),
    ...(condition ? [planCondition(condition, projectId)] : []),
  ]);
}

const zero: Expression = constant(0);

/** Both kinds of rows of the packet have the same columns. */
function rowOf(kind: 0 | 1, values: readonly Expression[]): SelectColumn[] {
  const names = ['kind', 'variant', 'n1', 'n2', 'n3', 'weight', 'first_ms', 'last_ms'];
  return [constant(kind), ...values].map((expression, index) => ({ alias: names[index] ?? '', expression }));
}

/** Units by variant; units that saw several variants count under the empty name. */
function selectUnits(query: ChoiceResults, context: PlanContext): Select {
  const { range } = query.selection;
  const isExposure = exposureOf(query, context);
  const columns: SelectColumn[] = [
    { alias: 'unit', expression: keyOf(query.unit) },
    { alias: 'variants', expression: call('groupUniqArrayIf', variantOf(query), isExposure) },
    { alias: 'exposed_at', expression: call('minIf', TIME, isExposure) },
    {
      alias: 'conversions',
      expression: call('groupArrayIf', TIME, equals(column('event_type'), textParameter(query.conversionEvent))),
    },
  ];
  const types = [...new Set([...(query.selection.eventTypes ?? []), query.conversionEvent])];
  const scanned = { fromMs: range.fromMs, toMs: range.toMs + query.windowMs };
  const units: Select = {
    kind: 'select',
    columns,
    from: scanEvents(context, {
      selection: { eventTypes: undefined, range: scanned, condition: undefined },
      reads: columns.map((of) => of.expression),
      filter: [isOfType(types), isPresentField(query.unit)],
    }),
    groupBy: ['unit'],
    having: call('notEmpty', alias('variants')),
  };
  const end = infix('+', alias('exposed_at'), integer(query.windowMs));
  const isConverted = mapEach('arrayExists', alias('conversions'), (time) =>
    allOf([infix('>=', time, alias('exposed_at')), infix('<=', time, end)]),
  );
  // A converted unit cannot convert again, so it is not immature.
  const mayConvert = allOf([infix('>', end, integer(context.nowMs)), not(isConverted)]);
  const isPure = equals(call('length', alias('variants')), constant(1));
  const seen = call('arrayElement', alias('variants'), constant(1));
  return {
    kind: 'select',
    columns: rowOf(0, [
      call('if', isPure, seen, constant('')),
      call('count'),
      call('countIf', isConverted),
      call('countIf', mayConvert),
      constant('NULL'),
      zero,
      zero,
    ]),
    from: units,
    groupBy: ['variant'],
  };
}

/** Per variant: the newest weight, and the exposures without a unit. */
function selectExposures(query: ChoiceResults, context: PlanContext): Select {
  const columns = rowOf(1, [
    variantOf(query),
    call('countIf', not(isPresentField(query.unit))),
    zero,
    zero,
    call('argMax', readNumber(query.weight), eventPosition),
    call('min', TIME),
    call('max', TIME),
  ]);
  return {
    kind: 'select',
    columns,
    from: scanEvents(context, {
      selection: { ...query.selection, condition: undefined },
      reads: columns.map((of) => of.expression),
      filter: [exposureOf(query, context)],
    }),
    groupBy: ['variant'],
  };
}

export function planChoice(query: ChoiceResults, context: PlanContext): Plan {
  const { choiceKey, conversionEvent, unit, rowsMax } = query;
  const page = pageOf(context, rowsMax);
  const units = selectUnits(query, context);
  const union: Select = {
    kind: 'select',
    columns: passThrough(units),
    from: { kind: 'union', selects: [units, selectExposures(query, context)] },
  };
  return {
    mode: 'choice',
    select: union,
    columns: [
      { name: 'variant_key', type: 'text' },
      { name: 'exposures', type: 'number' },
      { name: 'conversions', type: 'number' },
      { name: 'rate', type: 'rate' },
      { name: 'ci_low', type: 'rate' },
      { name: 'ci_high', type: 'rate' },
      { name: 'weight', type: 'number' },
    ],
    metric: undefined,
    presentation: {
      kind: 'choice',
      order: query.order,
      choiceKey,
      conversionEvent,
      unit: unit.name,
      nowMs: context.nowMs,
    },
    total: { kind: 'engine', rowsMax },
    rowsKept: page.kept,
    range: query.selection.range,
    timezone: query.timezone,
    warnings: query.warnings,
  };
}
