// Analyzer of `latest F per E`: the newest value per entity, listed, or aggregated by a second stage.

import { isTimeField, plainName, resolveField } from '../../analyze/resolve-field.js';
import type {
  ColumnOrder,
  EventSelection,
  EventSet,
  Latest,
  ListOrder,
  ResolvedField,
  ResolvedQuery,
} from '../../analyze/resolved.js';
import { report, type Scope } from '../../analyze/scope.js';
import { isKind, isSize, onlyStage, reportMisfit, resolveRowsMax } from '../../analyze/stages.js';
import { findNearest, quote } from '../../errors.js';
import { isDefined } from '../../is-defined.js';
import type { FieldName, SortKey, Stage } from '../../parse/syntax.js';
import {
  analyzeAggregate,
  analyzeEvents,
  checkOrder,
  type EventForm,
  fitsEvents,
  resolveSelection,
} from '../events/analyze.js';

interface EventStages {
  /** Undefined: events of any type. */
  readonly events: EventSet | undefined;
  readonly stages: readonly Stage[];
  readonly form?: EventForm;
}

type AggregateStage = Extract<Stage, { kind: 'aggregate' }>;
/** Events as rows, or latest values when the first aggregate is `latest`. */
export function analyzeEventSource(scope: Scope, source: EventStages): ResolvedQuery | undefined {
  const [first, ...others] = source.stages.filter(isKind('aggregate'));
  if (first?.name === 'latest') return analyzeLatest(scope, first, source);
  const late = others.find((stage) => stage.name === 'latest');
  if (!late) return analyzeEvents(scope, source);
  report(
    scope,
    late.span,
    `latest comes after ${first?.name}`,
    'latest comes first, and an aggregate may follow: latest event_properties.plan | count by last_value',
  );
  return analyzeEvents(scope, { ...source, stages: source.stages.filter((stage) => stage !== late) });
}

function analyzeLatest(scope: Scope, stage: AggregateStage, source: EventStages): ResolvedQuery | undefined {
  const { events, form } = source;
  const stages = source.stages.filter((other) => other !== stage);
  for (const other of stages) if (!fitsEvents(other)) reportMisfit(scope, other, form?.name ?? 'an event source');
  checkOrder(scope, source.stages);
  const selection = resolveSelection(scope, { events, stages, form });
  const latest = resolveLatest(scope, stage);
  const list = onlyStage(scope, stages, { matches: isKind('list'), what: 'list', hint: 'remove one of them' });
  const aggregate = onlyStage(scope, stages, {
    matches: isKind('aggregate'),
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
  if (!latest) return undefined;
  if (!aggregate && !stages.some(isKind('by'))) return analyzeValues(scope, { stages, latest, selection });
  const values: Scope = { ...scope, findField: findValueField(latest) };
  const person = valueField(latest, 'entity', 'entity');
  return analyzeAggregate(values, { stages, aggregate, selection, mode: 'latest_aggregate', rows: latest, person });
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
    );
  };

interface Values {
  readonly stages: readonly Stage[];
  readonly latest: Latest;
  readonly selection: EventSelection;
}

function analyzeValues(scope: Scope, { stages, latest, selection }: Values): ResolvedQuery {
  const size = onlyStage(scope, stages, { matches: isSize, what: 'the number of rows', hint: 'remove one of them' });
  const sort = onlyStage(scope, stages, {
    matches: isKind('sort'),
    what: 'sort',
    hint: 'one sort takes several columns',
  });
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
    rowsMax: size && resolveRowsMax(scope, size),
    timezone: scope.timezone,
    warnings: scope.warnings,
  };
}

const toColumnOrder = ({ field, direction }: ListOrder): ColumnOrder[] =>
  field.kind === 'computed' ? [{ column: field.alias, direction }] : [];

function resolveOrder(scope: Scope, latest: Latest, { field, direction }: SortKey): ListOrder | undefined {
  const found = findValueField(latest)(scope, field);
  return found && { field: found, direction: direction ?? (isTimeField(found) ? 'desc' : 'asc') };
}
