// Resolves an aggregate over rows (events, latest values, sessions, profiles): what it computes,
// its groups and its order.
import { findFieldOrProperty } from '../conditions/events.js';
import { findNearest, quote } from '../errors.js';
import { isRecurring } from '../fields.js';
import { isDefined } from '../is-defined.js';
import { AGGREGATES, ONE_AGGREGATE } from '../language.js';
import type { FieldName, SortKey, StageOf } from '../parse/syntax.js';
import { isSessionKey, longSessionKey } from '../session-fields.js';
import type { AnswerOrder } from './answer-order.js';
import { METRIC } from './grouped-columns.js';
import { checkBuckets, findGranularity, resolveGroups } from './groups.js';
import { takeHaving } from './having.js';
import { columnsBeside, type MetricStages, takeMetricStages } from './metric-stages.js';
import { findOther, type OtherGroups } from './other-groups.js';
import { isTimeField, resolveField } from './resolve-field.js';
import type {
  AggregateOrder,
  ColumnOrder,
  Condition,
  EachEntity,
  EventSelection,
  Group,
  Measure,
  ResolvedField,
  Rows,
} from './resolved.js';
import { VALUE } from './row-filters.js';
import { report, reportBeforeSyntax, type Scope } from './scope.js';
import type { StageReader } from './stage-reader.js';
import { takeCountedUnit } from './unit.js';

export interface AggregateQuery extends Omit<AnswerOrder, 'order'>, MetricStages {
  readonly kind: 'aggregate';
  readonly mode?: string | undefined;
  readonly rows?: Rows | undefined;
  readonly selection: EventSelection;
  readonly measure: Measure;
  /** The measure is of these numbers, not of events. */
  readonly each?: EachEntity | undefined;
  /** Name of the metric and its column in the answer. */
  readonly metric: { readonly name: string; readonly column: string };
  readonly groups: readonly Group[];
  readonly order: readonly AggregateOrder[];
  /** Keeps rows of the answer. */
  readonly having?: Condition | undefined;
  /** `top 5 other`: all groups but the largest are summed up. */
  readonly other?: OtherGroups | undefined;
}

interface AggregateParts extends Pick<AggregateQuery, 'mode' | 'rows' | 'selection' | 'each'> {
  readonly aggregate: StageOf<'aggregate'> | undefined;
  readonly by: readonly StageOf<'by'>[];
  /** What is computed, when it is not that of the stage. */
  readonly measure?: Measure | undefined;
  /** Default field of `unique`; when undefined, `unique` requires a field. */
  readonly person?: ResolvedField | undefined;
}

/** The smallest and the largest value are those of an event; other numeric ones are computed. */
const EXACT: readonly string[] = ['min', 'max'];

/** Whether an answer rounds the numbers (round-number.ts). */
export const isComputed = (measure: Measure): boolean =>
  measure.kind === 'numeric' && !EXACT.includes(measure.function);

export function takeAggregate(scope: Scope, stages: StageReader, parts: AggregateParts): AggregateQuery | undefined {
  const { aggregate, by, selection, mode, rows, person, each } = parts;
  const resolved = parts.measure ?? (aggregate ? resolveMeasure(scope, aggregate, person) : { kind: 'count' });
  // Other rows than events have no unit.
  const measure = rows || each ? resolved : takeCountedUnit(scope, stages, { aggregate, measure: resolved });
  const keys = [...(aggregate?.by ?? []), ...by.flatMap((stage) => stage.keys)];
  const written = resolveGroups(scope, keys);
  if (rows && rows.kind !== 'profiles') refuseCohorts(scope, stages);
  checkBuckets(scope, keys, selection.range);
  const sort = stages.takeOne('sort');
  const size = stages.takeSize();
  const added = takeMetricStages(scope, stages, { selection, rows, each, groups: written, keys, size, measure });
  if (!measure) return undefined;
  const name = metricOf(measure);
  const metric = { name, column: AGGREGATES[name].column };
  const beside = columnsBeside(added, written);
  const groups = written.map((group) => apartFrom([metric.column, 'value', 'metric', ...Object.keys(beside)], group));
  const sortable = { metric, groups, beside };
  const sorted = sort?.keys.map((key) => resolveAggregateOrder(scope, { ...sortable, key })).filter(isDefined) ?? [];
  const isByMetric = sorted[0]?.kind === 'metric' && sorted[0].direction === 'desc';
  // `top` keeps the rows with the largest metric, and `sort` orders them; sorted by the metric,
  // both are one.
  const isTop = size?.kind === 'top' && !isByMetric;
  const asked: AggregateOrder[] = isTop ? [{ kind: 'metric', direction: 'desc' }] : sorted;
  const rowsMax = size && stages.countOf(size);
  // Where properties have bare names, `value` is one.
  const isValueMetric = mode !== 'users' && mode !== 'choice';
  const computed = { [metric.column]: METRIC, ...(isValueMetric && { [VALUE]: METRIC }), ...beside };
  const rounded = Object.keys(computed).filter(
    (column) => column === 'change' || (isComputed(measure) && column !== 'share'),
  );
  const having = takeHaving(scope, stages, { computed, groups, rounded, size });
  const query = { kind: 'aggregate', mode, rows, selection, measure, each, ...added, metric, groups, having } as const;
  if (size?.kind === 'top' && size.withOther) {
    const other = findOther(scope, size, groups);
    if (!other || rowsMax === undefined) return undefined;
    const shown = completeOrder(sorted.length > 0 ? sorted : asked, groups);
    return {
      ...query,
      order: shown,
      other: { ...other, rows: rowsMax, order: completeOrder(asked, groups) },
      rowsMax: undefined,
    };
  }
  return {
    ...query,
    order: completeOrder(asked, groups),
    ...(isTop && sorted.length > 0 && { shownOrder: sorted.map((order) => toColumnOrder(order, sortable)) }),
    rowsMax,
  };
}

/** Words that are written after count and are no fields. */
const AFTER_COUNT: ReadonlyMap<string, string> = new Map([
  ['group', 'groups come after by alone: count by _country'],
  ['distinct', 'unique counts what is different: unique user_id'],
  ['by', 'by is written in lower case: count by _country'],
  ['as', 'columns of a formula have names: formula count(signup) as signups'],
  ...Object.keys(AGGREGATES).map((name): [string, string] => [name, ONE_AGGREGATE]),
]);

export function resolveMeasure(
  scope: Scope,
  stage: StageOf<'aggregate'>,
  person?: ResolvedField | undefined,
): Measure | undefined {
  const { name, field: written } = stage;
  if (stage.per && name !== 'latest') {
    report(
      scope,
      stage.per.span,
      `per does not fit ${name}`,
      `it goes with latest; groups come after by: ${name} … by ${stage.per.written}`,
    );
  }
  if (name === 'latest')
    return report(
      scope,
      stage.span,
      'latest does not fit here',
      'it comes first, after an event source or user: signup | latest event_properties.plan | count by last_value',
    );
  if (name === 'count') {
    if (!written) return { kind: 'count' };
    return reportBeforeSyntax(scope, {
      span: written.span,
      message: `count takes no field, but has ${quote(written.written)}`,
      hint:
        AFTER_COUNT.get(written.path.toLowerCase()) ??
        (findGranularity(written)
          ? `write count by ${written.written}`
          : `write count by ${written.written}, or unique ${written.written}`),
    });
  }
  if (!written && name === 'unique' && person) return { kind: 'unique', field: person };
  if (!written)
    return report(
      scope,
      stage.span,
      `${name} has no field`,
      name === 'unique'
        ? 'write what is to be counted, as in unique session.landing_path'
        : `write ${name} event_properties.price, or another field that holds numbers`,
    );
  const field = name === 'unique' ? resolveField(scope, written) : findNumber(scope, written);
  if (!field) return undefined;
  if (name === 'unique') return { kind: 'unique', field };
  if (isTimeField(field)) {
    return report(
      scope,
      written.span,
      `${name} does not fit ${written.written}, which is a time`,
      // Sessions cannot be listed.
      (name === 'min' || name === 'max') && !written.path.startsWith('session.')
        ? `list rows by it: list | sort ${written.written}${name === 'max' ? ' desc' : ''} | limit 1`
        : 'it takes a field that holds numbers',
    );
  }
  return { kind: 'numeric', function: name, field };
}

/** Prefixes of properties in other products: what is meant has another name here. */
const FOREIGN_PREFIX = /^(?:properties|props|event)\./;

/**
 * Of events, as in calls: a bare name is a property, unless it is short for a field of sessions.
 */
function findNumber(scope: Scope, name: FieldName): ResolvedField | undefined {
  const isOther = FOREIGN_PREFIX.test(name.path) || isSessionKey(longSessionKey(name.path));
  return scope.findField || isOther ? resolveField(scope, name) : findFieldOrProperty(scope, name);
}

const metricOf = (measure: Measure) => (measure.kind === 'numeric' ? measure.function : measure.kind);

/**
 * With bare field names a group may have the name of the metric or of its repetition in JSON
 * (`value`, `metric`). A row holds both, so the group then gets its full name, `user.value`.
 */
function apartFrom(columns: readonly string[], group: Group): Group {
  if (group.kind !== 'field' || group.field.kind !== 'property') return group;
  if (!columns.includes(group.name)) return group;
  return { ...group, name: `${group.field.bag}.${group.field.key}` };
}

/** A cohort is of one person, and a session or a latest value may be of several. */
function refuseCohorts(scope: Scope, { source }: StageReader): void {
  const { cohort } = scope.selected;
  if (cohort === undefined) return;
  const message = `by ${cohort.written} does not fit ${source}, whose rows are not of one person`;
  report(scope, cohort.span, message, `ask for one side: where ${cohort.written} = true`);
}

interface Sortable extends Pick<AggregateQuery, 'metric' | 'groups'> {
  readonly key: SortKey;
  /** Columns beside the metric, and those of the plan. */
  readonly beside: Readonly<Record<string, string>>;
}

function resolveAggregateOrder(scope: Scope, { key, metric, groups, beside }: Sortable): AggregateOrder | undefined {
  const { written } = key.field;
  const index = groups.findIndex((group) => group.name === written);
  if (index >= 0) return { kind: 'group', index, direction: key.direction ?? directionOf(groups[index]) };
  if ([metric.column, metric.name, 'value'].includes(written))
    return { kind: 'metric', direction: key.direction ?? 'desc' };
  const column = Object.hasOwn(beside, written) ? beside[written] : undefined;
  if (column !== undefined) return { kind: 'column', column, direction: key.direction ?? 'desc' };
  const columns = [...groups.map((group) => group.name), metric.column, ...Object.keys(beside)];
  // Of a series in time, either the newest or the largest may be meant.
  const isDirection = /^(?:asc|desc)$/i.test(written) && groups.length > 0 && !groups.some(isBucketOfTime);
  const nearest = isDirection ? `${metric.column} ${written.toLowerCase()}` : findNearest(written, columns);
  return report(
    scope,
    key.field.span,
    `the answer has no column ${quote(written)} to sort by`,
    nearest
      ? `nearest is "${nearest}"`
      : `its columns are ${columns.join(', ')}; events themselves are sorted after list`,
    nearest,
  );
}

const isBucketOfTime = (group: Group): boolean => group.kind === 'bucket' && !isRecurring(group.granularity);

/** Times descending, other groups ascending. */
export function directionOf(group: Group | undefined): 'asc' | 'desc' {
  if (group?.kind === 'field') return isTimeField(group.field) ? 'desc' : 'asc';
  return group !== undefined && isBucketOfTime(group) ? 'desc' : 'asc';
}

function columnOf(order: AggregateOrder, { groups, metric, beside }: Omit<Sortable, 'key'>): string {
  if (order.kind === 'group') return groups[order.index]?.name ?? metric.column;
  if (order.kind === 'metric') return metric.column;
  return Object.entries(beside).find(([, column]) => column === order.column)?.[0] ?? order.column;
}

const toColumnOrder = (order: AggregateOrder, of: Omit<Sortable, 'key'>): ColumnOrder => ({
  column: columnOf(order, of),
  direction: order.direction,
});

/** Appends the groups as tie-breakers, so that pages never overlap. */
function completeOrder(asked: readonly AggregateOrder[], groups: readonly Group[]): AggregateOrder[] {
  const byTime = groups.flatMap((group, index): AggregateOrder[] =>
    group.kind === 'field' ? [] : [{ kind: 'group', index, direction: 'asc' }],
  );
  const start: readonly AggregateOrder[] =
    asked.length > 0 ? asked : [...byTime, { kind: 'metric', direction: 'desc' }];
  const rest = groups.flatMap((_, index): AggregateOrder[] =>
    start.some((order) => order.kind === 'group' && order.index === index)
      ? []
      : [{ kind: 'group', index, direction: 'asc' }],
  );
  return [...start, ...rest];
}
