// Analyzer of the source `fields`.

import { resolveAnswerOrder } from '../../analyze/answer-order.js';
import { resolveBehaviour } from '../../analyze/behaviour.js';
import type { ResolvedQuery } from '../../analyze/resolved.js';
import type { Scope } from '../../analyze/scope.js';
import type { Stage } from '../../parse/syntax.js';
import { lastDays } from '../../time/range.js';

const DEFAULT_DAYS = 30;

export function analyzeFields(scope: Scope, stages: readonly Stage[]): ResolvedQuery {
  const { range, condition, rowsMax } = resolveBehaviour(scope, {
    source: 'fields',
    stages,
    fits: ['sort', 'top'],
    answers: 'lists the fields of events',
    fallback: lastDays(scope.nowMs, DEFAULT_DAYS),
  });
  const selection = { eventTypes: undefined, range, condition };
  const ordered = resolveAnswerOrder(scope, stages, {
    columns: ['field', 'type', 'category', 'events', 'coverage'],
    ascending: ['field', 'type', 'category'],
    metric: 'events',
  });
  return { kind: 'fields', selection, ...ordered, rowsMax, timezone: scope.timezone, warnings: scope.warnings };
}
