// Analyzer of the source `inspect`.
import { type AnswerOrder, type SortableColumns, takeAnswerOrder } from '../../analyze/answer-order.js';
import type { EventSelection } from '../../analyze/resolved.js';
import type { Scope } from '../../analyze/scope.js';
import { takeSelection } from '../../analyze/selection.js';
import type { StageReader } from '../../analyze/stage-reader.js';
import { resolveEvents } from '../../conditions/events.js';
import type { EventPattern } from '../../parse/syntax.js';

export interface InspectQuery extends AnswerOrder {
  readonly kind: 'inspect';
  readonly selection: EventSelection;
}

// Columns that hold lists cannot be sorted by.
const OF_TYPES: SortableColumns = {
  columns: ['event_type', 'count', 'users', 'first_seen', 'last_seen'],
  ascending: ['event_type'],
  metric: 'count',
};
const OF_PROPERTIES: SortableColumns = {
  columns: ['property', 'coverage', 'distinct'],
  ascending: ['property'],
  metric: 'coverage',
};

export function analyzeInspect(
  scope: Scope,
  { event }: { readonly event: EventPattern },
  stages: StageReader,
): InspectQuery {
  const isOfTypes = event.matches[0]?.name === undefined;
  const events = isOfTypes ? undefined : resolveEvents(scope, event);
  stages.describe({ answers: isOfTypes ? 'lists event types' : 'lists the properties of one event type' });
  return {
    kind: 'inspect',
    selection: takeSelection(scope, stages, { events, rows: 'unknown' }),
    ...takeAnswerOrder(scope, stages, isOfTypes ? OF_TYPES : OF_PROPERTIES),
  };
}
