// Filters behind an aggregate: a `where` that names a computed column of the answer keeps rows of
// the answer, as in `unique by _country | where unique_count > 20`. Any other `where` selects
// events, wherever it stands.
import { namesOfCompared, previousName } from '../compared-names.js';
import { joinConditions, resolveCondition } from '../conditions/resolve.js';
import { quote } from '../errors.js';
import { type ColumnType, type EventField, GRANULARITIES, type Granularity, isRecurring } from '../fields.js';
import { isDefined } from '../is-defined.js';
import { AGGREGATES } from '../language.js';
import * as syntax from '../parse/syntax.js';
import { isTimeField } from './resolve-field.js';
import type { Condition, Group, ResolvedField } from './resolved.js';
import { report, type Scope } from './scope.js';

type Where = syntax.StageOf<'where'>;

/** Columns that no row has before it is aggregated. */
const computedBy = (aggregate: syntax.StageOf<'aggregate'> | undefined): string[] => {
  const row = AGGREGATES[aggregate?.name ?? 'count'];
  return [...('column' in row ? [row.column] : []), 'bucket', 'weekday', 'hour_of_day'];
};

/** Columns that the other stages add: time buckets, and those of `share` and `compare`. */
function columnsAdded(stages: readonly syntax.Stage[]): string[] {
  const keys = syntax.stagesOf(stages, 'aggregate', 'by').flatMap((stage) => ('by' in stage ? stage.by : stage.keys));
  const periods = keys
    .flatMap((key) => (key.kind === 'name' ? [key.name.written] : key.kind === 'period_of' ? [key.period.written] : []))
    .filter((name) => GRANULARITIES.some((granularity) => granularity === name));
  const isCompared = stages.some(({ kind }) => kind === 'compare');
  return [
    ...periods,
    ...(isCompared ? ['previous', 'change', ...periods.map((period) => previousName(period))] : []),
    ...(stages.some(({ kind }) => kind === 'share') ? ['share'] : []),
  ];
}

/** Columns that the stages compute, with `own` ones of the source. */
export function columnsOf(stages: readonly syntax.Stage[], own: readonly string[]): string[] {
  const isCompared = stages.some(({ kind }) => kind === 'compare');
  const metrics = syntax.stagesOf(stages, 'aggregate').flatMap(({ name }) => {
    const row = AGGREGATES[name];
    return 'column' in row ? [row.column] : ['entity', 'last_value', 'set_at'];
  });
  return [...own, ...(isCompared ? namesOfCompared(...own) : []), ...metrics, ...columnsAdded(stages)];
}

/** The stages that filter rows of the answer. */
export function findRowFilters(stages: readonly syntax.Stage[]): Where[] {
  const isGrouping = ({ kind }: syntax.Stage): boolean => kind === 'aggregate' || kind === 'by';
  const start = stages.findIndex(isGrouping);
  if (start < 0) return [];
  const [aggregate, second] = syntax.stagesOf(stages, 'aggregate');
  if (aggregate?.name === 'latest') return [];
  // Between `count per FIELD` and the aggregate of its numbers they are filtered, behind both the
  // rows of the answer.
  const ofNumbers = aggregate?.per && second;
  const last = ofNumbers ? stages.indexOf(ofNumbers) : stages.length;
  const filtersIn = (of: readonly syntax.Stage[], columns: readonly string[]): Where[] =>
    syntax
      .stagesOf(of, 'where')
      .filter(({ condition }) => fieldsIn(condition).some(({ path }) => columns.includes(path)));
  const added = columnsAdded(stages);
  if (!ofNumbers) return filtersIn(stages.slice(start), [...computedBy(aggregate), ...added]);
  return [
    ...filtersIn(stages.slice(start, last), computedBy(aggregate)),
    ...filtersIn(stages.slice(last), [...computedBy(ofNumbers), ...added]),
  ];
}

function fieldsIn(condition: syntax.Condition): syntax.FieldName[] {
  switch (condition.kind) {
    case 'and':
    case 'or':
      return condition.items.flatMap(fieldsIn);
    case 'not':
      return fieldsIn(condition.item);
    case 'comparison':
      return [condition.field];
    default:
      return [];
  }
}

interface Columns {
  readonly metric: string;
  readonly groups: readonly Group[];
  /** Columns beside the metric, and those of the plan. */
  readonly beside: Readonly<Record<string, string>>;
  /** Names of the columns in the plan. */
  readonly planned: { readonly metric: string; readonly group: (index: number) => string };
}

export function resolveRowFilters(scope: Scope, filters: readonly Where[], columns: Columns): Condition | undefined {
  const findField = (of: Scope, name: syntax.FieldName): ResolvedField | undefined => findColumn(of, name, columns);
  const conditions = filters.map(({ condition }) => resolveCondition({ ...scope, findField }, condition));
  return joinConditions(conditions.filter(isDefined));
}

function findColumn(
  scope: Scope,
  name: syntax.FieldName,
  { metric, groups, beside, planned }: Columns,
): ResolvedField | undefined {
  const { path, written } = name;
  if (path === metric) return columnOf(metric, planned.metric, 'optional_number');
  const column = Object.hasOwn(beside, path) ? beside[path] : undefined;
  if (column !== undefined) {
    const bucket = groups.find((group) => group.kind === 'bucket' && previousName(group.granularity) === path);
    return bucket?.kind === 'bucket'
      ? bucketColumn(path, column, bucket.granularity)
      : columnOf(path, column, 'optional_number');
  }
  const index = groups.findIndex((group) => group.name === written || group.name === path);
  const group = groups[index];
  if (group) return groupColumn(group, planned.group(index));
  return report(
    scope,
    name.span,
    `${quote(written)} is no column of the answer`,
    `a where that names ${metric} filters rows of the answer; conditions on events go in a where of their own`,
  );
}

/** A group has the type that its values have in the answer: a property is a text. */
function groupColumn(group: Group, column: string): ResolvedField {
  const { name } = group;
  if (group.kind === 'number_bucket') return columnOf(name, column, 'optional_number');
  if (group.kind === 'bucket') return bucketColumn(name, column, group.granularity);
  const { field } = group;
  if (isTimeField(field)) return columnOf(name, column, 'optional_time');
  if (field.kind === 'column' && field.field.type !== 'optional_number')
    return { ...columnOf(name, column, field.field.type), valuesOf: field };
  if (field.kind === 'computed') return { ...field, name, alias: column, numberAlias: undefined };
  const text = { kind: 'computed', name, alias: column, type: 'nullable_text', numberAlias: undefined } as const;
  if (field.kind === 'property') return { ...text, valuesOf: field };
  return field.kind === 'column' ? text : { ...text, type: 'text' };
}

/** Buckets of a day and longer are dates, which the engine compares as midnights in UTC. */
function bucketColumn(name: string, column: string, granularity: Granularity): ResolvedField {
  if (isRecurring(granularity)) return columnOf(name, column, 'optional_number');
  const isDate = granularity !== 'minute' && granularity !== 'hour';
  return { ...columnOf(name, column, 'optional_time'), isBucket: true, ...(isDate && { zone: 'UTC' }) };
}

/** A column of the grouped rows, which may be null. */
const columnOf = (name: string, column: string, type: ColumnType): Extract<ResolvedField, { kind: 'column' }> => ({
  kind: 'column',
  name,
  field: { name, column: column as EventField['column'], type, category: 'other', hash: undefined },
});
