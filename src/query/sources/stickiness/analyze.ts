// Analyzer of the source `stickiness`.

import { resolveAnswerOrder } from '../../analyze/answer-order.js';
import { resolveBehaviour, selectEvents } from '../../analyze/behaviour.js';
import type { ResolvedQuery } from '../../analyze/resolved.js';
import type { Scope } from '../../analyze/scope.js';
import type { Source, Stage } from '../../parse/syntax.js';
import { lastDays } from '../../time/range.js';

type StickinessSource = Extract<Source, { kind: 'stickiness' }>;

const DEFAULT_DAYS = 30;

export function analyzeStickiness(scope: Scope, source: StickinessSource, stages: readonly Stage[]): ResolvedQuery {
  const behaviour = resolveBehaviour(scope, {
    source: 'stickiness',
    stages,
    fits: ['sort', 'top'],
    answers: 'answers users by their number of active days',
    fallback: lastDays(scope.nowMs, DEFAULT_DAYS),
  });
  return {
    kind: 'stickiness',
    selection: selectEvents(scope, source.event, behaviour),
    ...resolveAnswerOrder(scope, stages, {
      columns: ['active_days', 'users'],
      ascending: ['active_days'],
      metric: 'users',
    }),
    rowsMax: behaviour.rowsMax,
    timezone: scope.timezone,
    warnings: scope.warnings,
  };
}
