// Plans for the event source: aggregates over a scan, and lists of events.

import { assertNever } from '../../platform/errors.js';
import type { ProjectId } from '../../platform/ids.js';
import type {
  AggregateOrder,
  EventSelection,
  Group,
  ListColumn,
  ListOrder,
  Measure,
  NumericFunction,
  ResolvedField,
  ResolvedQuery,
  TimeRange,
} from '../analyze/resolved.js';
import { planCondition } from './condition.js';
import { alias, call, column, constant, equals, instantParameter, textParameter, tupleElement } from './expressions.js';
import {
  bucketsOf,
  countDistinct,
  isNoText,
  isPresentField,
  numberInText,
  property,
  readGroup,
  readNumber,
  readText,
  stitchingOf,
} from './field-expressions.js';
import { joinsFor } from './joins.js';
import type {
  ColumnType,
  EventScan,
  Expression,
  OrderBy,
  OutputColumn,
  Plan,
  ScanTime,
  Select,
  SelectColumn,
  Total,
} from './plan.js';
import { bucketOf, bucketType, fillOf, hasWholeHours, splitIntoHours } from './time-buckets.js';

export interface PlanContext {
  readonly projectId: ProjectId;
  readonly limit: number;
  readonly offset: number;
  readonly nowMs: number;
}

type AggregateQuery = Extract<ResolvedQuery, { kind: 'aggregate' }>;
type ListQuery = Extract<ResolvedQuery, { kind: 'list' }>;

// ---- Scans ----

export interface ScanParts {
  readonly selection: EventSelection;
  /** Everything that is computed from the scan's rows: it decides whether identities are stitched. */
  readonly reads: readonly Expression[];
  readonly time?: ScanTime;
  /** What rows have to satisfy beside the selection. */
  readonly filter?: readonly Expression[];
}

export function scanEvents(context: PlanContext, parts: ScanParts): EventScan {
  const { selection, reads, time } = parts;
  const filter: Expression[] = [...(parts.filter ?? [])];
  if (selection.eventType !== undefined) filter.push(equals(column('event_type'), textParameter(selection.eventType)));
  if (selection.condition) filter.push(planCondition(selection.condition, context.projectId));
  const scanned = time ?? exactly([selection.range]);
  const all = [...reads, ...filter];
  const joins = joinsFor(all, { ...context, span: spanOf(scanned, selection.range), eventType: selection.eventType });
  return {
    kind: 'events',
    projectId: context.projectId,
    stitching: stitchingOf([...all, ...joins.map((join) => join.left)]),
    ...(joins.length > 0 && { joins }),
    time: scanned,
    filter,
  };
}

/** The scan may reach further than the range that was asked for. */
function spanOf({ ranges }: ScanTime, asked: TimeRange): TimeRange {
  const toMs = (end: Expression): number[] =>
    end.kind === 'parameter' && typeof end.value === 'string' ? [Date.parse(`${end.value.replace(' ', 'T')}Z`)] : [];
  return {
    fromMs: Math.min(asked.fromMs, ...ranges.flatMap(({ from }) => toMs(from))),
    toMs: Math.max(asked.toMs, ...ranges.flatMap(({ to }) => toMs(to))),
  };
}

const scanTime = (kind: ScanTime['kind'], ranges: readonly TimeRange[]): ScanTime => ({
  kind,
  ranges: ranges.map(({ fromMs, toMs }) => ({ from: instantParameter(fromMs), to: instantParameter(toMs) })),
});

const exactly = (ranges: readonly TimeRange[]): ScanTime => scanTime('exact', ranges);

// ---- Pages ----

/**
 * The page of the request within the rows that a `limit` stage leaves. The engine is asked for one row at least, because
 * it does not count the rows before a limit of none.
 */
export function pageOf(
  context: PlanContext,
  rowsMax: number | undefined,
): { limit: number; offset: number; kept: number } {
  const kept = Math.max(0, Math.min(context.limit, (rowsMax ?? Number.POSITIVE_INFINITY) - context.offset));
  return kept > 0 ? { limit: kept, offset: context.offset, kept } : { limit: 1, offset: 0, kept };
}

// ---- Aggregates ----

const NUMERIC_AGGREGATE = {
  sum: (value) => call('ifNull', call('sum', value), constant(0)),
  avg: (value) => call('avg', value),
  min: (value) => call('min', value),
  max: (value) => call('max', value),
  median: (value) => quantile(0.5, value),
  p90: (value) => quantile(0.9, value),
  p95: (value) => quantile(0.95, value),
  p99: (value) => quantile(0.99, value),
} as const satisfies Record<NumericFunction, (value: Expression) => Expression>;

const quantile = (level: number, value: Expression): Expression => ({
  kind: 'call',
  name: 'quantileExactInclusive',
  settings: [level],
  arguments: [value],
});

function planMeasure(measure: Measure): Expression {
  switch (measure.kind) {
    case 'count':
      return call('count');
    case 'unique':
      return countDistinct(measure.field);
    case 'numeric':
      // A key that is missing reads 0, which changes no sum and spares asking whether it is there.
      if (measure.function === 'sum' && measure.field.kind === 'property') {
        return call('sum', property.valueIn(measure.field, 'num'));
      }
      return NUMERIC_AGGREGATE[measure.function](readNumber(measure.field));
    default:
      return assertNever(measure);
  }
}

const METRIC = 'metric';
const groupAlias = (index: number): string => `g${index}`;

interface GroupPlan {
  readonly column: SelectColumn;
  readonly type: ColumnType;
}

function planGroup(group: Group, index: number, { time, timezone }: { time: Expression; timezone: string }): GroupPlan {
  const name = groupAlias(index);
  if (group.kind === 'bucket') {
    const { granularity } = group;
    return {
      column: { alias: name, expression: bucketOf(time, { granularity, timezone }) },
      type: bucketType(granularity),
    };
  }
  const reading = readGroup(group.field);
  return { column: { alias: name, expression: reading.expression }, type: reading.type };
}

export const aliasOrder = (name: string, direction: 'asc' | 'desc'): OrderBy => ({
  expression: alias(name),
  direction,
});

/**
 * Values of a group or a column by what they are: the text form of what may be numbers sorts its numbers first, by size. What
 * is missing comes last in either direction, also where the engine holds it as empty text.
 */
export function orderByValue(
  { name, type }: { name: string; type: ColumnType | undefined },
  direction: 'asc' | 'desc',
): OrderBy[] {
  const value = aliasOrder(name, direction);
  if (type === 'text') return [{ expression: equals(alias(name), constant('')), direction: 'asc' }, value];
  if (type === 'typed_text') {
    const text = tupleElement(alias(name), 1);
    return [numberInText(text), text].map((expression) => ({ expression, direction }));
  }
  return type === 'nullable_text' ? [{ expression: numberInText(alias(name)), direction }, value] : [value];
}

function orderOf(order: AggregateOrder, groups: readonly GroupPlan[]): OrderBy[] {
  if (order.kind === 'metric') return [aliasOrder(METRIC, order.direction)];
  return orderByValue({ name: groupAlias(order.index), type: groups[order.index]?.type }, order.direction);
}

/**
 * The metric always takes part. Sorted by nothing but the time bucket, rows that were filled in and sorted so already would
 * not be sorted again by the engine, which then leaves the filled ones out of its count of rows before the limit.
 */
function orderOfGroups(order: readonly AggregateOrder[], groups: readonly GroupPlan[]): OrderBy[] {
  const isByMetric = order.some((of) => of.kind === 'metric');
  return [...order.flatMap((of) => orderOf(of, groups)), ...(isByMetric ? [] : [aliasOrder(METRIC, 'desc')])];
}

/** Rows of another kind than events, which an aggregate is made over. */
export interface RowsOver {
  /** When a row happened. */
  readonly time: Expression;
  readonly from: (reads: readonly Expression[]) => Select['from'];
  /** How the people of rows are counted, where a row may be of several. */
  readonly people?: Expression;
}

export function planAggregate(query: AggregateQuery, context: PlanContext, over?: RowsOver): Plan {
  const at = { time: column('time'), timezone: query.timezone };
  const groups = query.groups.map((group, index) => planGroup(group, index, at));
  const page = pageOf(context, query.rowsMax);
  const grouped = planGroups(query, context, over);
  const select: Select = {
    ...(grouped.orderBy ? { kind: 'select', columns: passThrough(grouped), from: grouped } : grouped),
    ...(groups.length > 0 && { orderBy: orderOfGroups(query.order, groups) }),
    limit: page.limit,
    offset: page.offset,
  };
  return {
    mode: query.mode ?? 'aggregate',
    select,
    columns: [
      ...groups.map((group, index): OutputColumn => ({ name: query.groups[index]?.name ?? '', type: group.type })),
      { name: query.metric.column, type: 'number' },
    ],
    metric: query.metric,
    total: { kind: 'engine', rowsMax: query.rowsMax },
    rowsKept: page.kept,
    range: query.selection.range,
    timezone: query.timezone,
    warnings: query.warnings,
  };
}

export const passThrough = (select: Select): SelectColumn[] =>
  select.columns.map((of) => ({ alias: of.alias, expression: alias(of.alias) }));

/** The groups and their metric, in no order; or, when time is the only group, every bucket of the range in order. */
function planGroups(query: AggregateQuery, context: PlanContext, over: RowsOver | undefined): Select {
  const { timezone } = query;
  const grouped = over
    ? planGroupsOver({ query, time: over.time, timezone, people: over.people }, over.from)
    : (planFromHours(query, context) ?? planFromEvents(query, context));
  const [only] = query.groups;
  if (query.groups.length !== 1 || only?.kind !== 'bucket') return grouped;
  const bucketing = { granularity: only.granularity, timezone: query.timezone };
  return { ...grouped, orderBy: [aliasOrder(groupAlias(0), 'asc')], fill: fillOf(query.selection.range, bucketing) };
}

function planFromEvents(query: AggregateQuery, context: PlanContext): Select {
  const { selection, timezone } = query;
  return planGroupsOver({ query, time: column('time'), timezone }, (reads) =>
    scanEvents(context, { selection, reads }),
  );
}

interface GroupsOver {
  readonly query: AggregateQuery;
  readonly time: Expression;
  readonly timezone: string;
  readonly people?: Expression | undefined;
}

function planGroupsOver({ query, people, ...at }: GroupsOver, scan: RowsOver['from']): Select {
  const { measure } = query;
  const groups = query.groups.map((group, index) => planGroup(group, index, at).column);
  const isOfPeople = measure.kind === 'unique' && measure.field.kind === 'distinct_id';
  const metric = (isOfPeople ? people : undefined) ?? planMeasure(measure);
  const columns = [...groups, { alias: METRIC, expression: metric }];
  return {
    kind: 'select',
    columns,
    from: scan(columns.map((of) => of.expression)),
    groupBy: groups.map((group) => group.alias),
  };
}

/**
 * Counts by nothing but time and event type are added up from the hourly counts that the engine keeps (11 times faster
 * over a month), and the ends of the range that are no whole hours from the events themselves. It is exact: the hourly
 * counts are a projection of the same rows.
 */
function planFromHours(query: AggregateQuery, context: PlanContext): Select | undefined {
  if (query.measure.kind !== 'count' || query.selection.condition) return undefined;
  const isKnownHourly = query.groups.every((group) => group.kind === 'bucket' || isEventType(group.field));
  if (!isKnownHourly || !hasWholeHours(query.selection.range, query.timezone)) return undefined;
  const split = splitIntoHours(query.selection.range);
  if (!split) return undefined;

  const { selection, timezone } = query;
  const over = (kind: 'exact' | 'hours', ranges: readonly TimeRange[]): Select => {
    const time = kind === 'hours' ? call('toStartOfHour', column('time')) : column('time');
    return planGroupsOver({ query, time, timezone }, (reads) =>
      scanEvents(context, { selection, reads, time: scanTime(kind, ranges) }),
    );
  };
  const hours = over('hours', [split.hours]);
  if (split.edges.length === 0) return hours;
  return {
    kind: 'select',
    columns: hours.columns.map((of) => ({
      alias: of.alias,
      expression: of.alias === METRIC ? call('sum', alias(METRIC)) : alias(of.alias),
    })),
    from: { kind: 'union', selects: [hours, over('exact', split.edges)] },
    groupBy: query.groups.map((_, index) => groupAlias(index)),
  };
}

const isEventType = (field: ResolvedField): boolean => field.kind === 'column' && field.field.column === 'event_type';

// ---- Lists ----

export function planListColumn(of: ListColumn, index: number): { column: SelectColumn; output: OutputColumn } {
  const name = `c${index}`;
  if (of.kind === 'field') {
    const { expression, type } = readText(of.field);
    if (of.field.kind !== 'property') return { column: { alias: name, expression }, output: { name: of.name, type } };
    // In its own type: a text form would make numbers text.
    const typed = call('tuple', expression, isNoText(of.field));
    return { column: { alias: name, expression: typed }, output: { name: of.name, type: 'typed_text' } };
  }
  const buckets = bucketsOf(of.bag).map((name) => column(name));
  return {
    column: { alias: name, expression: call('tuple', ...buckets) },
    output: { name: of.name, type: 'properties' },
  };
}

/** Properties hold numbers and text: numbers come first, in their own order, then text, then what is missing. */
export function listOrder({ field, direction }: ListOrder): OrderBy[] {
  const { expression, type } = readText(field);
  if (type === 'nullable_text')
    return [
      { expression: readNumber(field), direction },
      { expression, direction },
    ];
  if (type === 'text')
    return [
      { expression: isPresentField(field), direction: 'desc' },
      { expression, direction },
    ];
  return [{ expression, direction }];
}

/** Equal sort keys come in a fixed order, so that pages never overlap. */
/** The order is total: what is one event in the table is one here, so that no page repeats or misses any. */
const TIE_BREAKS: readonly OrderBy[] = (['time', 'insert_id', 'event_type'] as const).map((name) => ({
  expression: column(name),
  direction: 'desc',
}));

function totalOrder(order: readonly OrderBy[]): OrderBy[] {
  const isByTime = order.some(({ expression }) => expression.kind === 'column' && expression.column === 'time');
  return [...order, ...(isByTime ? TIE_BREAKS.slice(1) : TIE_BREAKS)];
}

export function planList(query: ListQuery, context: PlanContext): Plan {
  const columns = query.columns.map(planListColumn);
  const page = pageOf(context, query.rowsMax);
  const orderBy = totalOrder(query.order.flatMap(listOrder));
  const selected = columns.map((of) => of.column);
  const reads = [...selected, ...orderBy].map((of) => of.expression);
  const select: Select = {
    kind: 'select',
    columns: selected,
    from: scanEvents(context, { selection: query.selection, reads }),
    orderBy,
    limit: page.limit,
    offset: page.offset,
  };
  return {
    mode: query.mode ?? 'list',
    select,
    columns: columns.map((of) => of.output),
    metric: undefined,
    total: planListTotal(query, context),
    rowsKept: page.kept,
    range: query.selection.range,
    timezone: query.timezone,
    warnings: query.warnings,
  };
}

/** Counting all rows of a list would undo that the engine reads the columns of the newest ones only. */
function planListTotal(query: ListQuery, context: PlanContext): Total {
  const scan = scanEvents(context, { selection: query.selection, reads: [] });
  const columns = [{ alias: METRIC, expression: call('count') }];
  return { kind: 'count', rowsMax: query.rowsMax, select: { kind: 'select', columns, from: scan } };
}
