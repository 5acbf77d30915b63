// Analyzer of `latest F per E`: the newest value per entity, listed, or aggregated by a second
// stage.
import { type AggregateQuery, takeAggregate } from '../../analyze/aggregate.js';
import type { AnswerOrder } from '../../analyze/answer-order.js';
import { plainName } from '../../analyze/groups.js';
import { isTimeField, resolveField } from '../../analyze/resolve-field.js';
import type { ColumnOrder, EventSelection, Latest, ListOrder, ResolvedField } from '../../analyze/resolved.js';
import { report, type Scope } from '../../analyze/scope.js';
import type { StageReader } from '../../analyze/stage-reader.js';
import { findNearest, quote } from '../../errors.js';
import { isDefined } from '../../is-defined.js';
import type { FieldName, SortKey, StageOf } from '../../parse/syntax.js';

type AggregateStage = StageOf<'aggregate'>;

export interface LatestQuery extends Omit<AnswerOrder, 'order'> {
  readonly kind: 'latest_values';
  readonly latest: Latest;
  readonly selection: EventSelection;
  readonly order: readonly ListOrder[];
}

interface LatestParts {
  readonly stage: AggregateStage;
  /** Aggregates behind it. */
  readonly others: readonly AggregateStage[];
  readonly selection: EventSelection;
}

export function analyzeLatest(
  scope: Scope,
  stages: StageReader,
  { stage, others, selection }: LatestParts,
): AggregateQuery | LatestQuery | undefined {
  const latest = resolveLatest(scope, stage);
  const list = stages.takeOne('list');
  const by = stages.takeAll('by');
  const aggregate = stages.only(others, {
    what: 'the aggregate over last_value',
    hint: 'one aggregate may follow latest',
  });
  if (list && aggregate) {
    report(
      scope,
      list.span,
      `list does not go with ${aggregate.name}`,
      'list shows each latest value, an aggregate sums them up: leave one out',
    );
  }
  for (const field of list?.fields ?? []) {
    report(scope, field.span, 'list after latest takes no fields', 'its columns are entity, last_value and set_at');
  }
  if (!latest) {
    stages.takeAll('sort', 'top', 'limit');
    stages.takeRowFilters();
    return undefined;
  }
  if (!aggregate && by.length === 0) return takeValues(scope, stages, { latest, selection });
  const values: Scope = { ...scope, findField: findValueField(latest) };
  const person = valueField(latest, 'entity', 'entity');
  return takeAggregate(values, stages, { aggregate, by, selection, mode: 'latest_aggregate', rows: latest, person });
}

function resolveLatest(scope: Scope, { field: written, per, by, span }: AggregateStage): Latest | undefined {
  for (const key of by) {
    const name = plainName(scope, key, 'latest');
    if (!name) continue;
    report(scope, name.span, 'by does not fit latest', `one value for each: latest … per ${name.written}`);
  }
  const entity = per ? resolveField(scope, per) : ({ kind: 'distinct_id', name: 'distinct_id' } as const);
  if (!written) {
    return report(
      scope,
      { from: span.from, to: span.from + 'latest'.length },
      'latest has no field',
      'write latest FIELD, as in latest event_properties.plan, or latest FIELD per ENTITY',
    );
  }
  const field = resolveField(scope, written);
  return field && entity && { kind: 'latest', field, entity };
}

const VALUE_FIELDS = ['last_value', 'entity', 'set_at'] as const;
type ValueField = (typeof VALUE_FIELDS)[number];

function valueField(latest: Latest, name: string, which: ValueField): ResolvedField {
  const type = which === 'set_at' || (which === 'last_value' && isTimeField(latest.field)) ? 'time' : 'nullable_text';
  const numberAlias = which === 'last_value' && type !== 'time' ? 'last_number' : undefined;
  return { kind: 'computed', name, alias: which, type, numberAlias };
}

const findValueField =
  (latest: Latest) =>
  (scope: Scope, { path, written, span }: FieldName): ResolvedField | undefined => {
    const which = VALUE_FIELDS.find((candidate) => candidate === path);
    if (which) return valueField(latest, written, which);
    const nearest = findNearest(path, VALUE_FIELDS);
    return report(
      scope,
      span,
      `${quote(written)} is no field of latest values`,
      nearest ? `nearest is "${nearest}"` : `they have ${VALUE_FIELDS.join(', ')}; where before latest asks events`,
      nearest,
    );
  };

function takeValues(
  scope: Scope,
  stages: StageReader,
  { latest, selection }: Pick<LatestQuery, 'latest' | 'selection'>,
): LatestQuery {
  const sort = stages.takeOne('sort');
  const size = stages.takeSize();
  const byValue: ListOrder = { field: valueField(latest, 'last_value', 'last_value'), direction: 'desc' };
  const sorted = sort?.keys.map((key) => resolveOrder(scope, latest, key)).filter(isDefined) ?? [];
  const [first] = sorted;
  const isByValue =
    first?.field.kind === 'computed' && first.field.alias === 'last_value' && first.direction === 'desc';
  const isTop = size?.kind === 'top' && !isByValue;
  return {
    kind: 'latest_values',
    latest,
    selection,
    order: isTop ? [byValue] : sorted,
    ...(isTop && sorted.length > 0 && { shownOrder: sorted.flatMap(toColumnOrder) }),
    rowsMax: size && stages.countOf(size),
  };
}

const toColumnOrder = ({ field, direction }: ListOrder): ColumnOrder[] =>
  field.kind === 'computed' ? [{ column: field.alias, direction }] : [];

function resolveOrder(scope: Scope, latest: Latest, { field, direction }: SortKey): ListOrder | undefined {
  const found = findValueField(latest)(scope, field);
  return found && { field: found, direction: direction ?? (isTimeField(found) ? 'desc' : 'asc') };
}
