// Resolves an aggregate of an aggregate: `count per distinct_id | p90 count` has a number for each
// person, and answers one of all these.
import { quote } from '../errors.js';
import { AGGREGATES, type AggregateName } from '../language.js';
import type { FieldName, StageOf } from '../parse/syntax.js';
import { resolveMeasure } from './aggregate.js';
import { VALUE_OF_ENTITY } from './grouped-columns.js';
import { spanOfKey } from './groups.js';
import { resolveField } from './resolve-field.js';
import type { EachEntity, Measure, ResolvedField } from './resolved.js';
import { resolveRowFilters, VALUE } from './row-filters.js';
import { report, type Scope } from './scope.js';
import type { StageReader } from './stage-reader.js';

type AggregateStage = StageOf<'aggregate'>;

interface PerEntity {
  readonly stage: AggregateStage;
  readonly per: FieldName;
  /** Aggregates behind it. */
  readonly others: readonly AggregateStage[];
  readonly person: ResolvedField;
}

interface OfEntities {
  /** The stage that aggregates the numbers. */
  readonly aggregate: AggregateStage;
  readonly measure: Measure;
  readonly each: EachEntity;
}

export function takeOfEntities(
  scope: Scope,
  stages: StageReader,
  { stage, per, others, person }: PerEntity,
): OfEntities | undefined {
  const { column } = AGGREGATES[stage.name as Exclude<AggregateName, 'latest'>];
  const entity = resolveField(scope, per);
  const measure = resolveMeasure(scope, { ...stage, per: undefined }, person);
  for (const key of stage.by) {
    const message = `by stands behind ${stage.name} per ${per.written}`;
    report(scope, spanOfKey(key), message, `groups come after the last aggregate: p90 ${column} by day`);
  }
  const what = `the aggregate of ${stage.name} per ${per.written}`;
  const aggregate = stages.only(others, { what, hint: 'one aggregate may follow it' });
  if (aggregate === undefined) {
    const message = `${stage.name} per ${per.written} is a number for each, and no aggregate of these follows`;
    const each = entity === undefined ? 'person are count by distinct_id' : `are ${stage.name} … by ${per.written}`;
    return report(scope, per.span, message, `add one, as in p90 ${column}; rows for each ${each}`);
  }
  warnOfBuckets(scope, aggregate, `${stage.name} per ${per.written}`, column);
  const filters = stages.takeRowFilters({ before: aggregate });
  const computed = { [column]: VALUE_OF_ENTITY, [VALUE]: VALUE_OF_ENTITY };
  const having = resolveRowFilters(scope, filters, { computed, groups: [], rounded: [] });
  const ofNumbers = resolveOfNumbers(scope, aggregate, { name: stage.name, column });
  return entity && measure && ofNumbers && { aggregate, measure: ofNumbers, each: { entity, measure, having } };
}

/** A bare name in a bucket is a property, also one that is the column of the numbers. */
function warnOfBuckets(scope: Scope, { by }: AggregateStage, numbers: string, column: string): void {
  if (!by.some((key) => key.kind === 'bucket' && key.field.path === column)) return;
  scope.warnings.push(`bucket(${column}, …) is of event_properties.${column}; the numbers of ${numbers} are no group`);
}

interface Numbers {
  readonly name: AggregateName;
  readonly column: string;
}

/** The measure of the second aggregate, which reads the numbers of the first. */
function resolveOfNumbers(scope: Scope, stage: AggregateStage, { name: first, column }: Numbers): Measure | undefined {
  const { name, field, per, span } = stage;
  if (per)
    return report(scope, per.span, 'per is given twice', `the second aggregate is of all numbers: p90 ${column}`);
  if (name === 'count') {
    if (!field) return { kind: 'count' };
    return report(scope, field.span, `count takes no field, but has ${quote(field.written)}`, 'write count alone');
  }
  if (name === 'unique' || name === 'latest') {
    const takes = 'it takes count, sum, avg, min, max, median, p90, p95 and p99';
    return report(scope, span, `${name} does not fit the numbers of ${first} per …`, takes);
  }
  if (!field) {
    const word = { from: span.from, to: span.from + name.length };
    return report(scope, word, `${name} has no field`, `write ${name} ${column}`, `${name} ${column}`);
  }
  if (![column, first, 'value'].includes(field.path)) {
    const message = `${quote(field.written)} is no number of ${first} per …`;
    return report(scope, field.span, message, `write ${name} ${column}`, column);
  }
  const alias = VALUE_OF_ENTITY;
  return {
    kind: 'numeric',
    function: name,
    field: { kind: 'computed', name: column, alias, type: 'number', numberAlias: alias },
  };
}
