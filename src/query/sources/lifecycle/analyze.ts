// Analyzer of the source `lifecycle`.

import { resolveAnswerOrder } from '../../analyze/answer-order.js';
import { resolveBehaviour, resolveBy, selectEvents } from '../../analyze/behaviour.js';
import type { ResolvedQuery } from '../../analyze/resolved.js';
import type { Scope } from '../../analyze/scope.js';
import type { Source, Stage } from '../../parse/syntax.js';
import { lastDays } from '../../time/range.js';
import { isPeriod, PERIODS } from '../retention/analyze.js';

type LifecycleSource = Extract<Source, { kind: 'lifecycle' }>;

const DEFAULT_DAYS = 30;

export function analyzeLifecycle(scope: Scope, source: LifecycleSource, stages: readonly Stage[]): ResolvedQuery {
  const behaviour = resolveBehaviour(scope, {
    source: 'lifecycle',
    stages,
    fits: ['by', 'sort', 'top'],
    answers: 'answers users by period and status',
    fallback: lastDays(scope.nowMs, DEFAULT_DAYS),
  });
  const { granularity } = resolveBy(scope, stages, { source: 'lifecycle', granularities: PERIODS, takesField: false });
  return {
    kind: 'lifecycle',
    selection: selectEvents(scope, source.event, behaviour),
    period: isPeriod(granularity) ? granularity : 'week',
    ...resolveAnswerOrder(scope, stages, {
      columns: ['period', 'status', 'users'],
      ascending: ['status'],
      metric: 'users',
    }),
    rowsMax: behaviour.rowsMax,
    timezone: scope.timezone,
    warnings: scope.warnings,
  };
}
