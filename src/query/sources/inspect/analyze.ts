// Analyzer of the source `inspect`.

import { resolveAnswerOrder, type SortableColumns } from '../../analyze/answer-order.js';
import { resolveBehaviour } from '../../analyze/behaviour.js';
import type { ResolvedQuery } from '../../analyze/resolved.js';
import type { Scope } from '../../analyze/scope.js';
import type { Source, Stage } from '../../parse/syntax.js';
import { lastDays } from '../../time/range.js';

const DEFAULT_DAYS = 30;
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
  { event }: Extract<Source, { kind: 'inspect' }>,
  stages: readonly Stage[],
): ResolvedQuery {
  const eventType = event.matches[0]?.name?.text;
  const { range, condition, rowsMax } = resolveBehaviour(scope, {
    source: 'inspect',
    stages,
    fits: ['sort', 'top'],
    answers: eventType === undefined ? 'lists event types' : 'lists the properties of one event type',
    fallback: lastDays(scope.nowMs, DEFAULT_DAYS),
  });
  const selection = { eventTypes: eventType === undefined ? undefined : [eventType], range, condition };
  const ordered = resolveAnswerOrder(scope, stages, eventType === undefined ? OF_TYPES : OF_PROPERTIES);
  return { kind: 'inspect', selection, ...ordered, rowsMax, timezone: scope.timezone, warnings: scope.warnings };
}
