// Analyzer of the source `stickiness`.
import { type AnswerOrder, takeAnswerOrder } from '../../analyze/answer-order.js';
import type { EventSelection, Unit } from '../../analyze/resolved.js';
import type { Scope } from '../../analyze/scope.js';
import { takeSelection } from '../../analyze/selection.js';
import type { StageReader } from '../../analyze/stage-reader.js';
import { takeUnit } from '../../analyze/unit.js';
import { resolveEvents } from '../../conditions/events.js';
import type { EventPattern } from '../../parse/syntax.js';

export interface StickinessQuery extends AnswerOrder {
  readonly kind: 'stickiness';
  readonly selection: EventSelection;
  /** What is counted; undefined: people. */
  readonly unit: Unit | undefined;
}

export function analyzeStickiness(
  scope: Scope,
  { event }: { readonly event: EventPattern },
  stages: StageReader,
): StickinessQuery {
  return {
    kind: 'stickiness',
    selection: takeSelection(scope, stages, { events: resolveEvents(scope, event) }),
    unit: takeUnit(scope, stages),
    ...takeAnswerOrder(scope, stages, {
      columns: ['active_days', 'users'],
      ascending: ['active_days'],
      metric: 'users',
    }),
  };
}
