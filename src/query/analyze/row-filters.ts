// Filters behind an aggregate: a `where` that names a computed column of the answer keeps rows of
// the answer, as in `unique by _country | where unique_count > 20`. Any other `where` selects
// events, wherever it stands.
import { namesOfCompared, previousName } from '../compared-names.js';
import { isFieldName, joinConditions, resolveCondition } from '../conditions/resolve.js';
import { quote } from '../errors.js';
import { type ColumnType, type EventField, GRANULARITIES, type Granularity, isRecurring } from '../fields.js';
import { formulaNames } from '../formula-names.js';
import { isDefined } from '../is-defined.js';
import { AGGREGATES } from '../language.js';
import * as syntax from '../parse/syntax.js';
import { groupAlias } from './grouped-columns.js';
import { isTimeField } from './resolve-field.js';
import type { Condition, Group, ResolvedField } from './resolved.js';
import { asShown } from './rounded-filters.js';
import { report, type Scope } from './scope.js';

type Where = syntax.StageOf<'where'>;
type Source = syntax.Query['source'];

/** The metric in JSON, next to its own column. */
export const VALUE = 'value';

const COMPUTED_GROUPS: readonly string[] = ['bucket', 'weekday', 'hour_of_day'];

/** Columns that no row has before it is aggregated. */
const computedBy = (aggregate: syntax.StageOf<'aggregate'> | undefined, source: Source): string[] => {
  const row = AGGREGATES[aggregate?.name ?? 'count'];
  return [...('column' in row ? [row.column] : []), ...(hasBareNames(source) ? [] : [VALUE]), ...COMPUTED_GROUPS];
};

/** Where `value` may be a property. */
const hasBareNames = (source: Source): boolean =>
  source !== undefined && source !== 'broken' && (source.kind === 'users' || source.kind === 'choice');

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

const LATEST_COLUMNS: readonly string[] = ['entity', 'last_value', 'set_at'];

/** Columns that the stages compute, with `own` ones of the source. */
export function columnsOf(stages: readonly syntax.Stage[], own: readonly string[]): string[] {
  const isCompared = stages.some(({ kind }) => kind === 'compare');
  const metrics = syntax.stagesOf(stages, 'aggregate').flatMap(({ name }) => {
    const row = AGGREGATES[name];
    return 'column' in row ? [row.column] : LATEST_COLUMNS;
  });
  return [...own, ...(isCompared ? namesOfCompared(...own) : []), ...metrics, ...columnsAdded(stages)];
}

/** The stages that filter rows of the answer. */
export function findRowFilters({ source, stages }: syntax.Query): Where[] {
  const added = columnsAdded(stages);
  if (source !== undefined && source !== 'broken' && source.kind === 'formula') {
    return filtersIn(stages, [...columnsOfFormula(source.columns, stages), ...added, ...COMPUTED_GROUPS]);
  }
  const isGrouping = ({ kind }: syntax.Stage): boolean => kind === 'aggregate' || kind === 'by';
  const [aggregate, second] = syntax.stagesOf(stages, 'aggregate');
  if (aggregate?.name === 'latest') {
    const ofValues = stages.slice(stages.indexOf(aggregate) + 1);
    const start = ofValues.findIndex(isGrouping);
    const columns = [...computedBy(second, source), ...added, ...LATEST_COLUMNS];
    return start < 0 ? [] : filtersIn(ofValues.slice(start), columns);
  }
  const start = stages.findIndex(isGrouping);
  if (start < 0) return [];
  // Between `count per FIELD` and the aggregate of its numbers they are filtered, behind both the
  // rows of the answer.
  const ofNumbers = aggregate?.per && second;
  const last = ofNumbers ? stages.indexOf(ofNumbers) : stages.length;
  if (!ofNumbers) return filtersIn(stages.slice(start), [...computedBy(aggregate, source), ...added]);
  return [
    ...filtersIn(stages.slice(start, last), computedBy(aggregate, source)),
    ...filtersIn(stages.slice(last), [...computedBy(ofNumbers, source), ...added]),
  ];
}

const filtersIn = (stages: readonly syntax.Stage[], columns: readonly string[]): Where[] =>
  syntax
    .stagesOf(stages, 'where')
    .filter(({ condition }) => syntax.comparisonsIn(condition).some(({ field }) => columns.includes(field.path)));

/** Columns whose rows `where` filters: not those with the name of a field, which selects events. */
function columnsOfFormula(columns: readonly syntax.FormulaColumn[], stages: readonly syntax.Stage[]): string[] {
  const own = formulaNames(columns).filter((name) => !isFieldName(name));
  return stages.some(({ kind }) => kind === 'compare') ? [...own, ...namesOfCompared(...own)] : own;
}

export interface Columns {
  /** Names of the computed columns, the metric first, and those of the plan. */
  readonly computed: Readonly<Record<string, string>>;
  readonly groups: readonly Group[];
  /** Names of the computed columns whose numbers an answer rounds (round-number.ts). */
  readonly rounded: readonly string[];
}

export function resolveRowFilters(scope: Scope, filters: readonly Where[], columns: Columns): Condition | undefined {
  const findField = (of: Scope, name: syntax.FieldName): ResolvedField | undefined => findColumn(of, name, columns);
  const conditions = filters.map(({ condition }) => resolveCondition({ ...scope, findField }, condition));
  return joinConditions(conditions.filter(isDefined).map((condition) => asShown(condition, columns.rounded)));
}

function findColumn(scope: Scope, name: syntax.FieldName, { computed, groups }: Columns): ResolvedField | undefined {
  const { path, written } = name;
  const column = Object.hasOwn(computed, path) ? computed[path] : undefined;
  if (column !== undefined) {
    const bucket = groups.find((group) => group.kind === 'bucket' && previousName(group.granularity) === path);
    return bucket?.kind === 'bucket'
      ? bucketColumn(path, column, bucket.granularity)
      : columnOf(path, column, 'optional_number');
  }
  const index = groups.findIndex((group) => [written, path].includes(group.name) || isOf(group, written));
  const group = groups[index];
  if (group) return groupColumn(group, groupAlias(index));
  return report(
    scope,
    name.span,
    `${quote(written)} is no column of the answer`,
    `a where that names ${Object.keys(computed)[0]} filters rows of the answer; conditions on events go in a where of their own`,
  );
}

/** As the query has it: in the answer its column may have a longer name. */
const isOf = (group: Group, written: string): boolean => group.kind === 'field' && group.field.name === written;

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
