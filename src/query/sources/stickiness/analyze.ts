// Analyzer of the source `stickiness`.
import { type AnswerOrder, takeAnswerOrder } from '../../analyze/answer-order.js';
import { takeBy } from '../../analyze/by.js';
import type { Breakdown, EventSelection, Unit } from '../../analyze/resolved.js';
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
  /** The cohort by which people are counted. */
  readonly by: Breakdown | undefined;
}

export function analyzeStickiness(
  scope: Scope,
  { event }: { readonly event: EventPattern },
  stages: StageReader,
): StickinessQuery {
  const selection = takeSelection(scope, stages, { events: resolveEvents(scope, event) });
  const { cohort: by } = takeBy(scope, stages, { granularities: [], takesField: false, takesCohort: true });
  const groups = by ? [by.name] : [];
  return {
    kind: 'stickiness',
    selection,
    unit: takeUnit(scope, stages),
    by,
    ...takeAnswerOrder(scope, stages, {
      columns: [...groups, 'active_days', 'users'],
      ascending: [...groups, 'active_days'],
      metric: 'users',
    }),
  };
}
