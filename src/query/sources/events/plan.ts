// Plans of the event source: aggregates over a scan, and lists of events.

import { groupAlias, METRIC } from '../../analyze/grouped-columns.js';
import type {
  EventSelection,
  Group,
  ListColumn,
  ListOrder,
  ResolvedField,
  ResolvedQuery,
  TimeRange,
} from '../../analyze/resolved.js';
import { planCondition } from '../../conditions/plan.js';
import type { EventColumn } from '../../fields.js';
import { selectPeopleCount } from '../../people/count-people.js';
import { exactly, type PlanContext, scanEvents, selectEvents } from '../../people/scan.js';
import { planWithoutUnit } from '../../people/without-unit.js';
import { orderBy, passThrough, planAnswer, widthOf } from '../../plan/answer.js';
import { IS_EARLIER } from '../../plan/compared.js';
import { hasUnit } from '../../plan/distinct.js';
import { alias, column, constant, type Expression, infix, numberValue } from '../../plan/expressions.js';
import {
  bucketsOf,
  isNoText,
  isPresentField,
  type Reading,
  readGroup,
  readNumber,
  readText,
} from '../../plan/field-expressions.js';
import { fn } from '../../plan/functions.js';
import { planMeasure } from '../../plan/measure.js';
import {
  type Columns,
  type OrderBy,
  type OutputColumn,
  type Plan,
  type ScanTime,
  type Select,
  select,
  step,
} from '../../plan/plan.js';
import { bucketOf, bucketType, hasWholeHours, isOfWholeHours, splitIntoHours } from '../../time/buckets.js';
import { queryOver } from '../cohorts.js';
import { type AggregateQuery, fillGroups, orderOfGroups } from './group-order.js';
import { mergeable, sumUpOthers } from './other-groups.js';
import { columnsOfCompared, compareGroups, isOfEarlier, metricColumn } from './plan-compared.js';
import { groupEntities } from './plan-per-entity.js';
import { addShares, stateOfShare } from './plan-shares.js';
import { groupWindows } from './plan-windows.js';

type ListQuery = Extract<ResolvedQuery, { kind: 'list' }>;

// ---- Aggregates ----

/** Rows that an aggregate reads. */
export interface AggregatedRows {
  /** Time of a row. */
  readonly time: Expression;
  readonly from: (reads: readonly Expression[]) => Select['from'];
  /** Unique people, for rows that may belong to several. */
  readonly people?: Expression;
}

/** The zone of the buckets, and the range of their times. */
type Grouped = Pick<AggregateQuery, 'timezone' | 'selection' | 'earlier'>;

export function readGroupOf(group: Group, time: Expression, { timezone, selection, earlier }: Grouped): Reading {
  switch (group.kind) {
    case 'field':
      return readGroup(group.field);
    case 'bucket': {
      const { granularity, of } = group;
      const bucketing = { granularity, timezone };
      const expression = of
        ? bucketOf(readText(of).expression, bucketing)
        : bucketOf(time, bucketing, hullOf(selection.range, earlier));
      return { expression, type: bucketType(granularity) };
    }
    case 'number_bucket':
      return { expression: lowerEdge(readNumber(group.field), group.width), type: 'number' };
  }
}

const hullOf = (range: TimeRange, { fromMs, toMs }: TimeRange = range): TimeRange => ({
  fromMs: Math.min(range.fromMs, fromMs),
  toMs: Math.max(range.toMs, toMs),
});

/**
 * Compares edges with the number, because 0.3 / 0.1 is just below 3: the nearest edge, or the one
 * below it. The sum with 0 turns -0 into 0.
 */
function lowerEdge(number: Expression, width: number): Expression {
  const nearest = fn.round(infix('/', number, numberValue(width)), constant(0));
  const edge = edgeAt(nearest, width);
  const below = edgeAt(infix('-', nearest, constant(1)), width);
  return infix('+', fn.if(infix('<=', edge, number), edge, below), constant(0));
}

/** A whole number divided by a power of ten is the nearest to the decimal fraction. */
function edgeAt(steps: Expression, width: number): Expression {
  const [digits = '', exponent = 0] = String(width).split('e');
  const decimals = Math.max(0, (digits.split('.')[1]?.length ?? 0) - Number(exponent));
  const scale = 10 ** decimals;
  const scaled = infix('*', steps, numberValue(Math.round(width * scale)));
  return decimals === 0 ? scaled : infix('/', scaled, numberValue(scale));
}

/** Over events, unless other rows of a selection are given. */
export function planAggregate(query: AggregateQuery, context: PlanContext, over?: RowsOver): Plan {
  const { groups, selection, metric, measure, earlier } = query;
  const types = groups.map((group) => readGroupOf(group, column('time'), query).type);
  const grouped = groupOver(query, context, over);
  const unit = measure.kind === 'unique' && measure.field.kind === 'unit' ? measure.field : undefined;
  const rows = earlier
    ? compareGroups(
        query,
        groupBothRanges(query, context, over) ?? {
          current: grouped,
          earlier: groupOver(queryOver(query, earlier, context), context, over),
        },
      )
    : withBuckets(query, query.hasShare ? addShares(query, grouped) : grouped);
  return planAnswer({
    query,
    range: selection.range,
    context,
    mode: query.mode ?? 'aggregate',
    metric,
    ...widthOf(groups),
    ...(unit && { withoutUnit: planWithoutUnit(context, { unit, selection }) }),
    select: query.other
      ? sumUpOthers(grouped, { ...query, other: query.other, types })
      : {
          ...filterRows(query, rows, context),
          ...(groups.length > 0 && { orderBy: orderOfGroups(query.order, types) }),
        },
    columns: [
      ...groups.map(({ name }, index): OutputColumn => ({ name, type: types[index] ?? 'text' })),
      ...(earlier ? columnsOfCompared(query) : [metricColumn(query)]),
      ...(query.hasShare ? [{ name: 'share', type: 'rate' as const }] : []),
    ],
  });
}

type RowsOver = (selection: EventSelection) => AggregatedRows;

function groupOver(query: AggregateQuery, context: PlanContext, over: RowsOver | undefined): Select {
  if (over) return groupRows(query, over(query.selection));
  const groupOf = (group: Group) => readGroupOf(group, column('time'), query).expression;
  if (query.each) return groupEntities(query, query.each, context, groupOf);
  if (query.window) return groupWindows(query, query.window, context, groupOf);
  return groupHours(query, context) ?? countPeople(query, context) ?? groupEvents(query, context);
}

/** With more than a few groups, it would take longer than a lookup for each event. */
function countPeople(query: AggregateQuery, context: PlanContext): Select | undefined {
  const { groups, measure, selection } = query;
  if (measure.kind !== 'unique' || measure.field.kind !== 'distinct_id') return undefined;
  if (groups.length > 1 || !groups.every(areFew) || query.other || query.hasShare) return undefined;
  const columns = groups.map((group, index) => {
    return [groupAlias(index), readGroupOf(group, column('time'), query).expression] as const;
  });
  return selectPeopleCount(context, { selection, groups: Object.fromEntries(columns), metric: METRIC });
}

const FEW_VALUES: ReadonlySet<string> = new Set<EventColumn>([
  'browser',
  'os',
  'platform',
  'device_type',
  'geo_country',
  'geo_continent',
  'ingest_origin',
]);

/** Hours of events or longer, and fields that have few values in most projects. */
const areFew = (group: Group): boolean =>
  group.kind === 'bucket'
    ? group.of === undefined && group.granularity !== 'minute'
    : group.kind === 'field' && group.field.kind === 'column' && FEW_VALUES.has(group.field.field.column);

/**
 * The groups of both ranges of `compare` by one scan, where events are grouped and the ranges do
 * not overlap.
 */
function groupBothRanges(query: AggregateQuery, context: PlanContext, over: RowsOver | undefined) {
  const { selection, earlier } = query;
  const isEarlier = isOfEarlier(query);
  if (over || query.each || query.window || !earlier || !isEarlier || groupHours(query, context)) return undefined;
  const time = exactly(earlier, selection.range);
  return { both: groupEvents(query, context, { time, keys: { [IS_EARLIER]: isEarlier } }) };
}

function withBuckets(query: AggregateQuery, grouped: Select): Select {
  const filled = fillGroups(query, grouped);
  if (filled === grouped) return grouped;
  return select({ columns: passThrough(...Object.keys(grouped.columns)), from: step('buckets', filled) });
}

/** The rows that a `where` behind the aggregate keeps. */
export function filterRows({ having }: Filtered, rows: Select, { projectId }: PlanContext): Select {
  if (having === undefined) return rows;
  const columns = passThrough(...Object.keys(rows.columns));
  return select({ columns, from: step('rows', rows), where: planCondition(having, projectId) });
}

type Filtered = Pick<AggregateQuery, 'having'>;

/** Groups with their metric, unordered, by `keys` too. */
function groupRows(query: AggregateQuery, { time, from, people }: AggregatedRows, keys: Columns = {}): Select {
  const { measure, groups } = query;
  const isOfPeople = measure.kind === 'unique' && measure.field.kind === 'distinct_id';
  const groupColumns: Columns = {
    ...keys,
    ...Object.fromEntries(
      groups.map((group, index) => [groupAlias(index), readGroupOf(group, time, query).expression]),
    ),
  };
  const metric = (isOfPeople ? people : undefined) ?? planMeasure(measure);
  const columns = {
    ...groupColumns,
    ...(query.other ? mergeable(measure, metric) : { [METRIC]: query.hasShare ? stateOfShare(query, metric) : metric }),
  };
  return select({ columns, from: from(Object.values(columns)), groupBy: Object.keys(groupColumns) });
}

interface Grouping {
  /** Instead of the range of the selection. */
  readonly time?: ScanTime;
  readonly keys?: Columns;
}

function groupEvents(query: AggregateQuery, context: PlanContext, { keys, ...scanned }: Grouping = {}): Select {
  const { selection, measure } = query;
  const from = (reads: readonly Expression[]) =>
    scanEvents(context, { selection, reads, filter: hasUnit(measure), ...scanned });
  return groupRows(query, { time: column('time'), from }, keys);
}

/**
 * Counts by time and event type alone are summed from the hourly projection (11 times faster over a
 * month), and the partial hours at both ends of the range from events. Exact, because a projection
 * has the same rows.
 */
function groupHours(query: AggregateQuery, context: PlanContext): Select | undefined {
  const { measure, selection, groups, timezone } = query;
  if (measure.kind !== 'count' || selection.condition) return undefined;
  const isKnownHourly = groups.every((group) =>
    group.kind === 'field'
      ? isEventType(group.field)
      : group.kind === 'bucket' && !group.of && isOfWholeHours(group.granularity),
  );
  if (!isKnownHourly || !hasWholeHours(selection.range, timezone)) return undefined;
  const split = splitIntoHours(selection.range);
  if (!split) return undefined;

  const over = (time: Expression, scanned: ScanTime): Select =>
    groupRows(query, { time, from: (reads) => scanEvents(context, { selection, reads, time: scanned }) });
  const hours = over(fn.toStartOfHour(column('time')), { kind: 'hours', ranges: [split.hours] });
  if (split.edges.length === 0) return hours;
  const edges = over(column('time'), exactly(...split.edges));
  const groupBy = groups.map((_, index) => groupAlias(index));
  return select({
    columns: { ...passThrough(...groupBy), [METRIC]: fn.sum(alias(METRIC)) },
    from: step('hours_and_edges', { kind: 'union', selects: [hours, edges] }),
    groupBy,
  });
}

const isEventType = (field: ResolvedField): boolean => field.kind === 'column' && field.field.column === 'event_type';

// ---- Lists ----

const readListColumn = (of: ListColumn): Reading => {
  if (of.kind !== 'field') {
    return { expression: fn.tuple(...bucketsOf(of.bag).map((map) => column(map))), type: 'properties' };
  }
  const reading = readText(of.field);
  if (of.field.kind !== 'property') return reading;
  // Keep the original type: the text form would turn numbers into text.
  return { expression: fn.tuple(reading.expression, isNoText(of.field)), type: 'typed_text' };
};

/** The columns of a list, and those of its answer. */
export function planListColumns(columns: readonly ListColumn[]): { selected: Columns; outputs: OutputColumn[] } {
  const readings = columns.map(readListColumn);
  return {
    selected: Object.fromEntries(readings.map(({ expression }, index) => [`column_${index + 1}`, expression])),
    outputs: readings.map(({ type }, index) => ({ name: columns[index]?.name ?? '', type })),
  };
}

/** Sort keys of a property: numbers first, in numeric order, then text, then missing values. */
export function listOrder({ field, direction }: ListOrder): OrderBy[] {
  const { expression, type } = readText(field);
  const value = orderBy(expression, direction);
  if (type === 'nullable_text') return [orderBy(readNumber(field), direction), value];
  if (type === 'text') return [orderBy(isPresentField(field), 'desc'), value];
  return [value];
}

/**
 * Tie-breakers: the key of an event makes the order total, so that no page repeats or misses an
 * event.
 */
const TIE_BREAKS = (['time', 'insert_id', 'event_type'] as const).map((name) => orderBy(column(name), 'desc'));

function totalOrder(order: readonly OrderBy[]): OrderBy[] {
  const isByTime = order.some(({ expression }) => expression.kind === 'column' && expression.column === 'time');
  return [...order, ...(isByTime ? TIE_BREAKS.slice(1) : TIE_BREAKS)];
}

export function planList(query: ListQuery, context: PlanContext): Plan {
  const { selection } = query;
  const { selected, outputs } = planListColumns(query.columns);
  const order = totalOrder(query.order.flatMap(listOrder));
  const reads = [...Object.values(selected), ...order.map(({ expression }) => expression)];
  return planAnswer({
    query,
    range: selection.range,
    context,
    mode: query.mode ?? 'list',
    select: select({ columns: selected, from: scanEvents(context, { selection, reads }), orderBy: order }),
    columns: outputs,
    // Counted separately: counting in the list itself would read all columns of all rows.
    count: selectEvents(context, { selection, columns: { [METRIC]: fn.count() } }),
  });
}
