// Plan of formulas: all terms are aggregates of one scan; the arithmetic runs over them per group.
import type { ProjectId } from '../../../platform/ids.js';
import { groupAlias, resultAlias } from '../../analyze/grouped-columns.js';
import { isOwnTime } from '../../analyze/groups.js';
import type { EventSet, Group, ResolvedQuery } from '../../analyze/resolved.js';
import { areOfTypes, isIn } from '../../conditions/plan-events.js';
import { type PlanContext, selectEvents } from '../../people/scan.js';
import { planWithoutUnit } from '../../people/without-unit.js';
import { orderBy, orderByValue, passThrough, planAnswer, widthOf } from '../../plan/answer.js';
import { comparedColumns, earlierBucket, earlierOf, joinRanges, ofEarlier, withChange } from '../../plan/compared.js';
import {
  alias,
  allOf,
  anyOf,
  column,
  constant,
  type Expression,
  FALSE,
  infix,
  instant,
  numberValue,
} from '../../plan/expressions.js';
import { fn } from '../../plan/functions.js';
import {
  type Columns,
  type OrderBy,
  type OutputColumn,
  type Plan,
  type Select,
  select,
  step,
} from '../../plan/plan.js';
import { startOfSpan } from '../../time/range.js';
import type { Windows } from '../../time/windows.js';
import { queryOver } from '../cohorts.js';
import { fillGroups } from '../events/group-order.js';
import { filterRows, readGroupOf } from '../events/plan.js';
import { earlierBuckets, positionOfGroups } from '../events/plan-compared.js';
import { aggregateCall, aggregationOf, toNumber } from './aggregation.js';
import type { FormulaExpression, FormulaQuery, FormulaTerm } from './analyze.js';
import { type FormulaParts, mergeSlices, type PlannedTerm } from './windows.js';

export function termsOf(expression: FormulaExpression): FormulaTerm[] {
  switch (expression.kind) {
    case 'number':
      return [];
    case 'term':
      return [expression];
    case 'binary':
      return [...termsOf(expression.left), ...termsOf(expression.right)];
  }
}

/** The distinct terms of a formula. Equal terms are one column. */
class Terms {
  readonly planned: PlannedTerm[] = [];
  private readonly aliases = new Map<string, string>();

  constructor(terms: readonly FormulaTerm[], projectId: ProjectId) {
    for (const term of terms) {
      const name = `term_${this.aliases.size + 1}`;
      if (this.aliases.has(JSON.stringify(term))) continue;
      this.aliases.set(JSON.stringify(term), name);
      const isOfTerm = isIn(term.events, projectId);
      this.planned.push({ alias: name, last: term.last, ...aggregationOf(term.measure, isOfTerm) });
    }
  }

  /** The column of a term. */
  readonly of = (term: FormulaTerm): string => this.aliases.get(JSON.stringify(term)) ?? '';
}

type ColumnOf = (term: FormulaTerm) => string;

function planExpression(expression: FormulaExpression, columnOf: ColumnOf): Expression {
  switch (expression.kind) {
    case 'number':
      return numberValue(expression.value);
    case 'term':
      return alias(columnOf(expression));
    case 'binary': {
      const left = planExpression(expression.left, columnOf);
      const right = planExpression(expression.right, columnOf);
      // Use the divisor once: twice, nested divisions would double the statement per level.
      return infix(expression.operator, left, expression.operator === '/' ? fn.nullIf(right, constant(0)) : right);
    }
  }
}

export function planFormula(query: FormulaQuery & ResolvedQuery, context: PlanContext): Plan {
  const { selection, groups, columns, unit, earlier } = query;
  const found = columns.flatMap(({ expression }) => termsOf(expression));
  const terms = new Terms(found, context.projectId);
  const parts: FormulaParts = {
    query,
    context,
    terms: terms.planned,
    filter: filterOf(found, groups, context),
  };
  const outputs = groups.map((group): OutputColumn => {
    return { name: group.name, type: readGroupOf(group, column('time'), query).type };
  });
  const computed = select({
    columns: { ...passThrough(...groups.map((_, index) => groupAlias(index))), ...planColumns(query, terms.of) },
    from: step('terms', fillGroups(query, rowsOf(parts))),
  });
  const results = columns.map(({ name }): OutputColumn => ({ name, type: 'number', isComputed: true }));
  return planAnswer({
    query,
    order: query.order,
    range: selection.range,
    context,
    mode: 'formula',
    ...widthOf(groups),
    ...(unit && { withoutUnit: planWithoutUnit(context, { unit, selection, sets: setsOfUnit(found) }) }),
    select: {
      ...filterRows(query, computed, context),
      ...(groups.length > 0 && { orderBy: defaultOrder(groups, outputs) }),
    },
    columns: earlier
      ? [
          ...outputs,
          ...earlierBuckets(groups),
          ...comparedColumns(
            results,
            results.map(({ name }) => name),
          ),
        ]
      : [...outputs, ...results],
  });
}

/** The events of the calls that count units. */
const setsOfUnit = (terms: readonly FormulaTerm[]): EventSet[] =>
  terms.flatMap(({ measure, events }) => (measure.kind === 'unique' && measure.field.kind === 'unit' ? [events] : []));

/** The columns behind those of the groups. */
function planColumns(query: FormulaParts['query'], columnOf: ColumnOf): Columns {
  const position = positionOfGroups(query);
  const planned = query.columns.map(({ expression }, index): Columns => {
    const name = resultAlias(index);
    const result = planExpression(expression, columnOf);
    if (!query.earlier) return { [name]: result };
    const earlier = planExpression(expression, (term) => earlierOf(columnOf(term)));
    return withChange(name, result, ofEarlier(earlier, position));
  });
  return Object.assign(position ? { previous_bucket: earlierBucket(position) } : {}, ...planned);
}

/** One row per group, with the terms of the range and of that of `compare`. */
function rowsOf(parts: FormulaParts): Select {
  const { query, terms, context } = parts;
  const { earlier, windows, earlierWindows, groups } = query;
  const over = (of: Windows | undefined, given: FormulaParts): Select =>
    of ? mergeSlices(given, of) : aggregateEvents(given);
  if (!earlier) return over(windows, parts);
  const values = terms.map((term) => [term.alias, term.function === 'avgIf' ? 'null' : 'zero'] as const);
  return joinRanges({
    current: over(windows, parts),
    earlier: over(earlierWindows, { ...parts, query: queryOver(query, earlier, context) }),
    keys: groups.map((_, index) => groupAlias(index)),
    position: positionOfGroups(query),
    values: terms.length > 0 ? Object.fromEntries(values) : { [EVENTS]: 'zero' },
  });
}

/** A formula without terms reads no events and still has one row. */
const EVENTS = 'events';

/**
 * Whether the groups are those of events: not the one group of all events, nor every bucket of the
 * range.
 */
const areOfEvents = (groups: readonly Group[]): boolean =>
  groups.length > 1 || groups.some((group) => !isOwnTime(group));

/** Groups of events are those of the events of the calls, so other events are not read. */
function filterOf(terms: readonly FormulaTerm[], groups: readonly Group[], { projectId }: PlanContext): Expression[] {
  const sets = terms.map(({ events }) => events);
  const types = areOfTypes(sets);
  if (!areOfEvents(groups)) return types;
  if (sets.length === 0) return [FALSE];
  const isOfEvery = sets.every(({ condition }) => condition === undefined);
  const isOfAny = sets.some(({ condition, eventTypes }) => condition === undefined && eventTypes === undefined);
  return isOfEvery || isOfAny ? types : [...types, anyOf(sets.map((set) => isIn(set, projectId)))];
}

/** Times and numbers ascending, then by the first column descending, then by the fields. */
function defaultOrder(groups: readonly Group[], outputs: readonly OutputColumn[]): OrderBy[] {
  const ordersOf = (isField: boolean): OrderBy[] =>
    groups.flatMap((group, index) =>
      (group.kind === 'field') === isField ? orderByValue(groupAlias(index), outputs[index]?.type, 'asc') : [],
    );
  // The result is always a sort key: otherwise ClickHouse skips the sort after WITH FILL and omits
  // filled rows from rows_before_limit.
  return [...ordersOf(false), orderBy(resultAlias(0), 'desc'), ...ordersOf(true)];
}

/**
 * One row per group. Calls with a range of their own read from its start, all others from the start
 * of the query's.
 */
function aggregateEvents({ query, context, terms, filter }: FormulaParts): Select {
  const { selection, groups } = query;
  const { range } = selection;
  const starts = terms.map(({ last }) => (last ? startOfSpan(range.toMs, last, 'UTC') : range.fromMs));
  const fromMs = Math.min(range.fromMs, ...starts);
  const since = (startMs: number): Expression[] =>
    startMs > fromMs ? [infix('>=', column('time'), instant(startMs))] : [];
  const ofGroups: Columns = Object.fromEntries(
    groups.map((group, index) => [groupAlias(index), readGroupOf(group, column('time'), query).expression]),
  );
  const ofTerms: Columns = Object.fromEntries(
    terms.map((term, index) => {
      const condition = allOf([term.condition, ...since(starts[index] ?? fromMs)]);
      return [term.alias, toNumber(term, aggregateCall({ ...term, condition }))];
    }),
  );
  const [isInRange] = since(range.fromMs);
  return selectEvents(context, {
    selection: { ...selection, range: { fromMs, toMs: range.toMs } },
    columns: { ...ofGroups, ...(terms.length > 0 ? ofTerms : { [EVENTS]: fn.count() }) },
    filter,
    groupBy: Object.keys(ofGroups),
    ...(isInRange && groups.length > 0 && { having: infix('>', fn.countIf(isInRange), constant(0)) }),
  });
}
