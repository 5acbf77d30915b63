// Analyzer of the sources `lifecycle` and `stickiness`.

import { resolveAnswerOrder } from '../../analyze/answer-order.js';
import { resolveBehaviour, resolveBy } from '../../analyze/behaviour.js';
import type { ResolvedQuery } from '../../analyze/resolved.js';
import type { Scope } from '../../analyze/scope.js';
import type { Source, Stage } from '../../parse/syntax.js';
import { lastDays } from '../../time/range.js';
import { isPeriod, PERIODS } from '../retention/analyze.js';

type LifecycleSource = Extract<Source, { kind: 'lifecycle' }>;
type StickinessSource = Extract<Source, { kind: 'stickiness' }>;

const DEFAULT_DAYS = 30;

const typeOf = ({ event }: LifecycleSource | StickinessSource): string | undefined =>
  event.kind === 'named' ? event.name : undefined;

export function analyzeLifecycle(scope: Scope, source: LifecycleSource, stages: readonly Stage[]): ResolvedQuery {
  const { range, condition, rowsMax } = resolveBehaviour(scope, {
    source: 'lifecycle',
    stages,
    fits: ['by', 'sort', 'top'],
    answers: 'answers users by period and status',
    fallback: lastDays(scope.nowMs, DEFAULT_DAYS),
  });
  const { granularity } = resolveBy(scope, stages, { source: 'lifecycle', granularities: PERIODS, takesField: false });
  return {
    kind: 'lifecycle',
    selection: { eventType: typeOf(source), range, condition },
    period: isPeriod(granularity) ? granularity : 'week',
    ...resolveAnswerOrder(scope, stages, { columns: ['period', 'status', 'users'], metric: 'users' }),
    rowsMax,
    timezone: scope.timezone,
    warnings: scope.warnings,
  };
}
