// Analyzer of the source `stickiness`.

import { resolveAnswerOrder } from '../../analyze/answer-order.js';
import { resolveBehaviour } from '../../analyze/behaviour.js';
import type { ResolvedQuery } from '../../analyze/resolved.js';
import type { Scope } from '../../analyze/scope.js';
import type { Source, Stage } from '../../parse/syntax.js';
import { lastDays } from '../../time/range.js';

type LifecycleSource = Extract<Source, { kind: 'lifecycle' }>;
type StickinessSource = Extract<Source, { kind: 'stickiness' }>;

const DEFAULT_DAYS = 30;

const typeOf = ({ event }: LifecycleSource | StickinessSource): string | undefined =>
  event.kind === 'named' ? event.name : undefined;

export function analyzeStickiness(scope: Scope, source: StickinessSource, stages: readonly Stage[]): ResolvedQuery {
  const { range, condition, rowsMax } = resolveBehaviour(scope, {
    source: 'stickiness',
    stages,
    fits: ['sort', 'top'],
    answers: 'answers users by their number of active days',
    fallback: lastDays(scope.nowMs, DEFAULT_DAYS),
  });
  return {
    kind: 'stickiness',
    selection: { eventType: typeOf(source), range, condition },
    ...resolveAnswerOrder(scope, stages, { columns: ['active_days', 'users'], metric: 'users' }),
    rowsMax,
    timezone: scope.timezone,
    warnings: scope.warnings,
  };
}
