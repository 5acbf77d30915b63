// Resolves the stages that select events: `where` and a time range.
import { joinConditions, resolveCondition } from '../conditions/resolve.js';
import { isDefined } from '../is-defined.js';
import { resolveComparedRange } from '../time/compared-range.js';
import { lastDays, resolveTimeStage, TIME_STAGES, type TimeStage } from '../time/range.js';
import type { Condition, EventSelection, EventSet, TimeRange } from './resolved.js';
import type { Scope } from './scope.js';
import type { StageReader } from './stage-reader.js';

interface Asked {
  /** Undefined: events of any type. */
  readonly events?: EventSet | undefined;
  /** Restricts the events of the source. */
  readonly condition?: Condition | undefined;
  /** Rewrites a time stage for sources that read it differently. */
  readonly readTime?: (stage: TimeStage) => TimeStage;
}

export function takeSelection(scope: Scope, stages: StageReader, asked: Asked = {}): EventSelection {
  const { events, condition, readTime } = asked;
  const conditions = stages.takeAll('where').map((stage) => resolveCondition(scope, stage.condition));
  const time = stages.takeTime();
  return {
    eventTypes: events?.eventTypes,
    range: (time && resolveTimeStage(scope, readTime?.(time) ?? time)) ?? lastDays(scope.nowMs, stages.defaultDays),
    condition: joinConditions([condition, events?.condition, ...conditions].filter(isDefined)),
  };
}

/** The earlier range of `compare`, for sources whose answers can be compared. */
export function takeEarlier(scope: Scope, stages: StageReader, { range }: EventSelection): TimeRange | undefined {
  const compare = stages.takeOne('compare');
  return compare && resolveComparedRange(scope, compare, range, stages.takeAll(...TIME_STAGES)[0]);
}
