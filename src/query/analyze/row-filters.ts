// Filters behind an aggregate: a `where` that names a number of the answer keeps rows of the
// answer, as in `unique by _country | where unique_count > 20`. Any other `where` selects events,
// wherever it stands.
import { joinConditions, resolveCondition } from '../conditions/resolve.js';
import { quote } from '../errors.js';
import { type EventField, isRecurring } from '../fields.js';
import { isDefined } from '../is-defined.js';
import { AGGREGATES } from '../language.js';
import * as syntax from '../parse/syntax.js';
import type { Condition, Group, ResolvedField } from './resolved.js';
import { report, type Scope } from './scope.js';

type Where = syntax.StageOf<'where'>;

/** Columns of numbers that no row has before it is aggregated. */
const numbersOf = (aggregate: syntax.StageOf<'aggregate'> | undefined): string[] => {
  const row = AGGREGATES[aggregate?.name ?? 'count'];
  return [...('column' in row ? [row.column] : []), 'bucket', 'weekday', 'hour_of_day'];
};

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
  const filtersIn = (of: readonly syntax.Stage[], from: syntax.StageOf<'aggregate'> | undefined): Where[] => {
    const numbers = numbersOf(from);
    return syntax
      .stagesOf(of, 'where')
      .filter(({ condition }) => fieldsIn(condition).some(({ path }) => numbers.includes(path)));
  };
  return [...filtersIn(stages.slice(start, last), aggregate), ...filtersIn(stages.slice(last), ofNumbers)];
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
  { metric, groups, planned }: Columns,
): ResolvedField | undefined {
  if (name.path === metric) return numberColumn(metric, planned.metric);
  const index = groups.findIndex((group) => group.name === name.path);
  const group = groups[index];
  const isNumber = group?.kind === 'number_bucket' || (group?.kind === 'bucket' && isRecurring(group.granularity));
  if (isNumber) return numberColumn(name.path, planned.group(index));
  return report(
    scope,
    name.span,
    `${quote(name.written)} is no number of the answer`,
    `a where that names ${metric} filters rows of the answer; conditions on events go in a where of their own`,
  );
}

/** A column of the grouped rows, which may be null. */
const numberColumn = (name: string, column: string): ResolvedField => ({
  kind: 'column',
  name,
  field: { name, column: column as EventField['column'], type: 'optional_number', category: 'other', hash: undefined },
});
