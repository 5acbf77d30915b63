// Plans of the event source: aggregates over a scan, and lists of events.

import type { ProjectId } from '../../../platform/ids.js';
import type {
  AggregateOrder,
  EventSelection,
  Group,
  ListColumn,
  ListOrder,
  ResolvedField,
  ResolvedQuery,
  TimeRange,
} from '../../analyze/resolved.js';
import { planCondition } from '../../conditions/plan.js';
import { isOfType } from '../../conditions/plan-events.js';
import { joinsFor } from '../../people/joins.js';
import { alias, call, column, constant, equals, instantParameter, tupleElement } from '../../plan/expressions.js';
import {
  bucketsOf,
  isNoText,
  isPresentField,
  numberInText,
  readGroup,
  readNumber,
  readText,
  stitchingOf,
} from '../../plan/field-expressions.js';
import { planMeasure } from '../../plan/measure.js';
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
} from '../../plan/plan.js';
import { bucketOf, bucketType, fillOf, hasWholeHours, isOfWholeHours, splitIntoHours } from '../../time/buckets.js';

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
  /** Expressions over the scan's rows; they decide whether identities are stitched. */
  readonly reads: readonly Expression[];
  readonly time?: ScanTime;
  /** Additional filter. */
  readonly filter?: readonly Expression[];
}

export function scanEvents(context: PlanContext, parts: ScanParts): EventScan {
  const { selection, reads, time } = parts;
  const filter: Expression[] = [...(parts.filter ?? [])];
  if (selection.eventTypes) filter.push(isOfType(selection.eventTypes));
  if (selection.condition) filter.push(planCondition(selection.condition, context.projectId));
  const scanned = time ?? exactly([selection.range]);
  const all = [...reads, ...filter];
  const joins = joinsFor(all, { ...context, span: spanOf(scanned, selection.range), eventTypes: selection.eventTypes });
  return {
    kind: 'events',
    projectId: context.projectId,
    stitching: stitchingOf([...all, ...joins.map((join) => join.left)]),
    ...(joins.length > 0 && { joins }),
    time: scanned,
    filter,
  };
}

/** Widened range of the scan. */
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
 * Page of the request within the rows of a `limit` stage. At least one row is requested, because ClickHouse does not count
 * rows before LIMIT 0.
 */
export function pageOf(
  context: PlanContext,
  rowsMax: number | undefined,
): { limit: number; offset: number; kept: number } {
  const kept = Math.max(0, Math.min(context.limit, (rowsMax ?? Number.POSITIVE_INFINITY) - context.offset));
  return kept > 0 ? { limit: kept, offset: context.offset, kept } : { limit: 1, offset: 0, kept };
}

// ---- Aggregates ----

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
 * Sort order of values: text forms that may be numbers sort numbers first, by size. Missing values come last in both
 * directions, also when stored as empty text.
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
 * The metric is always a sort key. Sorted by the time bucket alone, ClickHouse would skip the sort after WITH FILL and omit
 * filled rows from rows_before_limit.
 */
function orderOfGroups(order: readonly AggregateOrder[], groups: readonly GroupPlan[]): OrderBy[] {
  const isByMetric = order.some((of) => of.kind === 'metric');
  return [...order.flatMap((of) => orderOf(of, groups)), ...(isByMetric ? [] : [aliasOrder(METRIC, 'desc')])];
}

/** Rows other than events that an aggregate reads. */
export interface RowsOver {
  /** Time of a row. */
  readonly time: Expression;
  readonly from: (reads: readonly Expression[]) => Select['from'];
  /** Unique people, for rows that may belong to several. */
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

/** Groups with their metric, unordered; when time is the only group, every bucket of the range in order. */
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
 * Counts by time and event type alone are summed from the hourly projection (11 times faster over a month), and the partial
 * hours at both ends of the range from events. Exact, because a projection has the same rows.
 */
function planFromHours(query: AggregateQuery, context: PlanContext): Select | undefined {
  if (query.measure.kind !== 'count' || query.selection.condition) return undefined;
  const isKnownHourly = query.groups.every((group) =>
    group.kind === 'bucket' ? isOfWholeHours(group.granularity) : isEventType(group.field),
  );
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
    // Keep the original type: the text form would turn numbers into text.
    const typed = call('tuple', expression, isNoText(of.field));
    return { column: { alias: name, expression: typed }, output: { name: of.name, type: 'typed_text' } };
  }
  const buckets = bucketsOf(of.bag).map((name) => column(name));
  return {
    column: { alias: name, expression: call('tuple', ...buckets) },
    output: { name: of.name, type: 'properties' },
  };
}

/** Sort keys of a property: numbers first, in numeric order, then text, then missing values. */
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

/**
 * Tie-breakers: the key of an event makes the order total, so that no page repeats or misses an
 * event.
 */
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

/** Counted separately: counting in the list itself would read all columns of all rows. */
function planListTotal(query: ListQuery, context: PlanContext): Total {
  const scan = scanEvents(context, { selection: query.selection, reads: [] });
  const columns = [{ alias: METRIC, expression: call('count') }];
  return { kind: 'count', rowsMax: query.rowsMax, select: { kind: 'select', columns, from: scan } };
}
