// Resolves the stages that select events: `where` and a time range.
import { type CallRows, callResolver } from '../conditions/calls.js';
import { joinConditions, resolveCondition } from '../conditions/resolve.js';
import { isDefined } from '../is-defined.js';
import { resolveComparedRange } from '../time/compared-range.js';
import { lastDays, resolveTimeStage, TIME_STAGES, type TimeStage } from '../time/range.js';
import type { Condition, EventSelection, EventSet, TimeRange } from './resolved.js';
import { type CallComparison, report, type Scope } from './scope.js';
import type { StageReader } from './stage-reader.js';

interface Asked {
  /** Undefined: events of any type. */
  readonly events?: EventSet | undefined;
  /** Restricts the events of the source. */
  readonly condition?: Condition | undefined;
  /** Rewrites a time stage for sources that read it differently. */
  readonly readTime?: (stage: TimeStage) => TimeStage;
  /** What conditions filter; `unknown` where calls do not fit. */
  readonly rows?: CallRows['rows'] | 'unknown';
}

export function takeSelection(scope: Scope, stages: StageReader, asked: Asked = {}): EventSelection {
  const { events, condition, readTime, rows = 'events' } = asked;
  const time = stages.takeTime();
  const range =
    (time && resolveTimeStage(scope, readTime?.(time) ?? time)) ?? lastDays(scope.nowMs, stages.defaultDays);
  const resolveCall = rows === 'unknown' ? refuseCalls(stages.source) : callResolver({ range, rows });
  const conditions = stages
    .takeAll('where')
    .map((stage) => resolveCondition({ ...scope, resolveCall }, stage.condition));
  return {
    eventTypes: events?.eventTypes,
    range,
    condition: joinConditions([condition, events?.condition, ...conditions].filter(isDefined)),
  };
}

const refuseCalls =
  (source: string) =>
  (scope: Scope, { call }: CallComparison): undefined =>
    report(
      scope,
      call.span,
      `${call.name.text}(…) does not fit ${source}`,
      'calls in where go with events, users, funnel, retention, paths, sessions, lifecycle, stickiness and formula',
    );

/** The earlier range of `compare`, for sources whose answers can be compared. */
export function takeEarlier(scope: Scope, stages: StageReader, { range }: EventSelection): TimeRange | undefined {
  const compare = stages.takeOne('compare');
  return compare && resolveComparedRange(scope, compare, range, stages.takeAll(...TIME_STAGES)[0]);
}
