// Analyzer of the source `lifecycle`.
import { type AnswerOrder, orderOf, takeAnswerOrder } from '../../analyze/answer-order.js';
import { takeBy } from '../../analyze/by.js';
import type { Breakdown, CalendarPeriod, EventSelection, Unit } from '../../analyze/resolved.js';
import type { Scope } from '../../analyze/scope.js';
import { takeSelection } from '../../analyze/selection.js';
import type { StageReader } from '../../analyze/stage-reader.js';
import { takeUnit } from '../../analyze/unit.js';
import { resolveEvents } from '../../conditions/events.js';
import type { EventPattern } from '../../parse/syntax.js';
import { isPeriod, PERIODS } from '../../time/calendar-periods.js';
import { type LifecyclePeople, takeLifecyclePeople } from './people.js';

export interface LifecycleQuery extends AnswerOrder {
  readonly kind: 'lifecycle';
  readonly selection: EventSelection;
  /** What is counted; undefined: people. */
  readonly unit: Unit | undefined;
  readonly period: CalendarPeriod;
  /** The cohort by which people are counted. */
  readonly by: Breakdown | undefined;
  /** Lists people instead of counting them. */
  readonly people: LifecyclePeople | undefined;
}

export function analyzeLifecycle(
  scope: Scope,
  { event }: { readonly event: EventPattern },
  stages: StageReader,
): LifecycleQuery {
  const selection = takeSelection(scope, stages, { events: resolveEvents(scope, event) });
  const { granularity, cohort: by } = takeBy(scope, stages, {
    granularities: PERIODS,
    takesField: false,
    takesCohort: true,
  });
  const groups = by ? [by.name] : [];
  const period = isPeriod(granularity) ? granularity : 'week';
  const people = takeLifecyclePeople(scope, stages, { range: selection.range, period });
  const answer =
    people ??
    takeAnswerOrder(scope, stages, {
      columns: [...groups, 'period', 'status', 'users'],
      ascending: [...groups, 'status'],
      metric: 'users',
    });
  const unit = takeUnit(scope, stages);
  return { kind: 'lifecycle', selection, unit, period, by, people, ...orderOf(answer) };
}
