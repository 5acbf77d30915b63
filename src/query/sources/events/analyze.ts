// Analyzer of the event source and `*`: an aggregate over events, or a list of events.

import { checkBuckets, isTimeField, resolveField, resolveGroups } from '../../analyze/resolve-field.js';
import type {
  AggregateOrder,
  ColumnOrder,
  Condition,
  EventSelection,
  EventSet,
  Group,
  ListColumn,
  ListOrder,
  Measure,
  ResolvedField,
  ResolvedQuery,
  Rows,
  SourceMode,
} from '../../analyze/resolved.js';
import { report, type Scope } from '../../analyze/scope.js';
import {
  isKind,
  isSize,
  isTimeStage,
  onlyStage,
  reportMisfit,
  resolveRowsMax,
  type StageOf,
  stageWord,
} from '../../analyze/stages.js';
import { joinConditions, resolveCondition } from '../../conditions/resolve.js';
import { findNearest, quote } from '../../errors.js';
import { isRecurring, LIST_COLUMNS, PROPERTY_BAGS, type PropertyBag, requireEventField } from '../../fields.js';
import { isDefined } from '../../is-defined.js';
import type { FieldName, SortKey, Stage } from '../../parse/syntax.js';
import { lastDays, resolveTimeStage } from '../../time/range.js';

const DEFAULT_DAYS = 7;
interface EventStages {
  /** Undefined: events of any type. */
  readonly events: EventSet | undefined;
  readonly stages: readonly Stage[];
  readonly form?: EventForm;
}

/** Additions of sources whose rows are events too (user, choice). */
export interface EventForm {
  readonly mode: SourceMode;
  /** Name in messages. */
  readonly name: string;
  readonly defaultDays: number;
  /** Restricts the events of the source. */
  readonly condition: Condition;
  /** Whether the default is a list instead of a count. */
  readonly isList: boolean;
}

export function analyzeEvents(scope: Scope, { events, stages, form }: EventStages): ResolvedQuery | undefined {
  for (const stage of stages) if (!fitsEvents(stage)) reportMisfit(scope, stage, form?.name ?? 'an event source');
  checkOrder(scope, stages);
  const selection = resolveSelection(scope, { events, stages, form });
  const list = onlyStage(scope, stages, { matches: isKind('list'), what: 'list', hint: 'remove one of them' });
  const aggregate = onlyStage(scope, stages, {
    matches: isKind('aggregate'),
    what: 'the aggregate',
    hint: 'a query has one aggregate; use a separate query for the other',
  });
  if (list && aggregate) {
    return report(
      scope,
      list.span,
      `list does not go with ${aggregate.name}`,
      'list shows events, an aggregate sums them up: leave one out',
    );
  }
  const mode = form?.mode;
  const isListed = list || (form?.isList && !aggregate && !stages.some(isKind('by')));
  return isListed
    ? analyzeList(scope, { stages, fields: list?.fields ?? [], selection, mode })
    : analyzeAggregate(scope, { stages, aggregate, selection, mode });
}

export function fitsEvents(stage: Stage): boolean {
  return (
    isTimeStage(stage) || ['where', 'aggregate', 'list', 'sort', 'limit', 'top', 'by', 'broken'].includes(stage.kind)
  );
}

/** sort, limit and top apply to the aggregate, so they must not precede it. */
export function checkOrder(scope: Scope, stages: readonly Stage[]): void {
  const cut = stages.findIndex((stage) => stage.kind === 'sort' || isSize(stage));
  if (cut < 0) return;
  const before = stages[cut];
  for (const stage of stages.slice(cut)) {
    if (before && (stage.kind === 'aggregate' || stage.kind === 'by')) {
      report(
        scope,
        stage.span,
        `${stageWord(stage)} comes after ${stageWord(before)}`,
        'an aggregate comes before sort, limit and top',
      );
    }
  }
}

export interface SelectionParts {
  readonly events?: EventSet | undefined;
  readonly stages: readonly Stage[];
  readonly form?: { readonly defaultDays: number; readonly condition?: Condition } | undefined;
}

export function resolveSelection(scope: Scope, { events, stages, form }: SelectionParts): EventSelection {
  const time = onlyStage(scope, stages, {
    matches: isTimeStage,
    what: 'the time range',
    hint: 'a query has one time range',
  });
  const fallback = lastDays(scope.nowMs, form?.defaultDays ?? DEFAULT_DAYS);
  const range = time ? (resolveTimeStage(scope, time) ?? fallback) : fallback;
  const conditions = stages
    .filter(isKind('where'))
    .map((stage) => resolveCondition(scope, stage.condition))
    .filter(isDefined);
  const all = [form?.condition, events?.condition, ...conditions].filter(isDefined);
  return { eventTypes: events?.eventTypes, range, condition: joinConditions(all) };
}

interface ListParts {
  readonly stages: readonly Stage[];
  /** Empty for the default columns. */
  readonly fields: readonly FieldName[];
  readonly selection: EventSelection;
  readonly mode: SourceMode | undefined;
}

function analyzeList(scope: Scope, { stages, fields, selection, mode }: ListParts): ResolvedQuery {
  for (const by of stages.filter(isKind('by')))
    report(scope, by.span, 'by does not go with list', 'group an aggregate: count by day');
  const size = onlyStage(scope, stages, { matches: isSize, what: 'the number of rows', hint: 'remove one of them' });
  if (size?.kind === 'top') {
    report(
      scope,
      size.span,
      'top does not go with list, which has no metric',
      'write sort and limit: sort time desc | limit 10',
    );
  }
  const sort = onlyStage(scope, stages, {
    matches: isKind('sort'),
    what: 'sort',
    hint: 'one sort takes several fields: sort _country, time desc',
  });
  return {
    kind: 'list',
    mode,
    selection,
    columns: fields.length > 0 ? fields.map((name) => resolveListColumn(scope, name)).filter(isDefined) : DEFAULT_LIST,
    order: sort ? sort.keys.map((key) => resolveListOrder(scope, key)).filter(isDefined) : [NEWEST_FIRST],
    rowsMax: size && resolveRowsMax(scope, size),
    timezone: scope.timezone,
    warnings: scope.warnings,
  };
}

const isBag = (name: string): name is PropertyBag => Object.hasOwn(PROPERTY_BAGS, name);

const columnField = (name: Parameters<typeof requireEventField>[0]): ResolvedField => ({
  kind: 'column',
  name,
  field: requireEventField(name),
});

const DEFAULT_LIST: readonly ListColumn[] = LIST_COLUMNS.map((name) =>
  isBag(name) ? { kind: 'properties', name, bag: name } : { kind: 'field', name, field: columnField(name) },
);

const NEWEST_FIRST: ListOrder = { direction: 'desc', field: columnField('time') };

function resolveListColumn(scope: Scope, name: FieldName): ListColumn | undefined {
  if (isBag(name.path)) return { kind: 'properties', name: name.written, bag: name.path };
  const field = resolveField(scope, name);
  return field && { kind: 'field', name: name.written, field };
}

function resolveListOrder(scope: Scope, key: SortKey): ListOrder | undefined {
  const field = resolveField(scope, key.field);
  return field && { direction: key.direction ?? (isTimeField(field) ? 'desc' : 'asc'), field };
}

interface AggregateParts {
  readonly stages: readonly Stage[];
  readonly aggregate: StageOf<'aggregate'> | undefined;
  readonly selection: EventSelection;
  readonly mode: SourceMode | undefined;
  readonly rows?: Rows;
  /** Default field of `unique`; when undefined, `unique` requires a field. */
  readonly person?: ResolvedField | undefined;
}

const DISTINCT_PERSON: ResolvedField = { kind: 'distinct_id', name: 'distinct_id' };

export function analyzeAggregate(scope: Scope, parts: AggregateParts): ResolvedQuery | undefined {
  const { stages, aggregate, selection, mode, rows } = parts;
  const person = rows ? parts.person : DISTINCT_PERSON;
  const measure = aggregate ? resolveMeasure(scope, aggregate, person) : ({ kind: 'count' } as const);
  const byKeys = stages.filter(isKind('by')).flatMap((stage) => stage.keys);
  const keys = [...(aggregate?.by ?? []), ...byKeys];
  const written = resolveGroups(scope, keys);
  checkBuckets(scope, keys, selection.range);
  const groups = measure ? written.map((group) => apartFrom(METRIC_COLUMN[metricOf(measure)], group)) : written;
  const size = onlyStage(scope, stages, { matches: isSize, what: 'the number of rows', hint: 'remove one of them' });
  const sort = onlyStage(scope, stages, {
    matches: isKind('sort'),
    what: 'sort',
    hint: 'one sort takes several columns: sort day, count desc',
  });
  if (!measure) return undefined;
  const sorted =
    sort?.keys.map((key) => resolveAggregateOrder(scope, { key, measure, groups })).filter(isDefined) ?? [];
  const isByMetric = sorted[0]?.kind === 'metric' && sorted[0].direction === 'desc';
  // `top` keeps the rows with the largest metric, and `sort` orders them; sorted by the metric, both are one.
  const isTop = size?.kind === 'top' && !isByMetric;
  const asked: AggregateOrder[] = isTop ? [{ kind: 'metric', direction: 'desc' }] : sorted;
  const column = METRIC_COLUMN[metricOf(measure)];
  return {
    kind: 'aggregate',
    mode,
    rows,
    selection,
    measure,
    metric: { name: metricOf(measure), column },
    groups,
    order: completeOrder(asked, groups),
    ...(isTop && sorted.length > 0 && { shownOrder: sorted.map((order) => toColumnOrder(order, groups, column)) }),
    rowsMax: size && resolveRowsMax(scope, size),
    timezone: scope.timezone,
    warnings: scope.warnings,
  };
}

/** Arguments that SQL users write after count. */
const COUNT_IN_SQL: ReadonlyMap<string, string> = new Map([
  ['group', 'groups come after by alone: count by _country'],
  ['distinct', 'unique counts what is different: unique user_id'],
]);

function resolveMeasure(
  scope: Scope,
  stage: StageOf<'aggregate'>,
  person: ResolvedField | undefined,
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
    return report(
      scope,
      written.span,
      `count takes no field, but has ${quote(written.written)}`,
      COUNT_IN_SQL.get(written.path.toLowerCase()) ?? `write count by ${written.written}, or unique ${written.written}`,
    );
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
  const field = resolveField(scope, written);
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

/** Name of the metric column in the answer. */
export const METRIC_COLUMN = {
  count: 'count',
  unique: 'unique_count',
  sum: 'total',
  avg: 'average',
  min: 'min_value',
  max: 'max_value',
  median: 'median_value',
  p90: 'p90',
  p95: 'p95',
  p99: 'p99',
} as const;

const metricOf = (measure: Measure): keyof typeof METRIC_COLUMN =>
  measure.kind === 'numeric' ? measure.function : measure.kind;

/**
 * With bare field names a group may have the name of the metric or of its repetition in JSON (`value`, `metric`). A row holds
 * both, so the group then gets its full name, `user.value`.
 */
function apartFrom(metricColumn: string, group: Group): Group {
  if (group.kind === 'bucket' || group.field.kind !== 'property') return group;
  if (![metricColumn, 'value', 'metric'].includes(group.name)) return group;
  return { ...group, name: `${group.field.bag}.${group.field.key}` };
}

function resolveAggregateOrder(
  scope: Scope,
  { key, measure, groups }: { key: SortKey; measure: Measure; groups: readonly Group[] },
): AggregateOrder | undefined {
  const { written } = key.field;
  const index = groups.findIndex((group) => group.name === written);
  if (index >= 0) return { kind: 'group', index, direction: key.direction ?? directionOf(groups[index]) };
  const metric = metricOf(measure);
  const metricNames: string[] = [METRIC_COLUMN[metric], metric, 'value'];
  if (metricNames.includes(written)) return { kind: 'metric', direction: key.direction ?? 'desc' };
  const columns = [...groups.map((group) => group.name), METRIC_COLUMN[metric]];
  const nearest = findNearest(written, columns);
  return report(
    scope,
    key.field.span,
    `the answer has no column ${quote(written)} to sort by`,
    nearest
      ? `nearest is "${nearest}"`
      : `its columns are ${columns.join(', ')}; events themselves are sorted after list`,
  );
}

/** Times descending, other groups ascending. */
function directionOf(group: Group | undefined): 'asc' | 'desc' {
  if (group?.kind === 'field') return isTimeField(group.field) ? 'desc' : 'asc';
  return group === undefined || isRecurring(group.granularity) ? 'asc' : 'desc';
}

const toColumnOrder = (order: AggregateOrder, groups: readonly Group[], metricColumn: string): ColumnOrder => ({
  column: order.kind === 'metric' ? metricColumn : (groups[order.index]?.name ?? metricColumn),
  direction: order.direction,
});

/** Appends the groups as tie-breakers, so that pages never overlap. */
function completeOrder(asked: readonly AggregateOrder[], groups: readonly Group[]): AggregateOrder[] {
  const byTime = groups.flatMap((group, index): AggregateOrder[] =>
    group.kind === 'bucket' ? [{ kind: 'group', index, direction: 'asc' }] : [],
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
