// Resolves the stages that select events: `where` and a time range.

import { type CallRows, callResolver } from '../conditions/calls.js';
import { fieldsOf } from '../conditions/fields-of.js';
import { joinConditions, resolveCondition } from '../conditions/resolve.js';
import { isDefined } from '../is-defined.js';
import type { Duration } from '../parse/syntax.js';
import { resolveComparedRange } from '../time/compared-range.js';
import { lastDays, resolveTimeStage, TIME_STAGES, type TimeStage } from '../time/range.js';
import type { Condition, EventSelection, EventSet, TimeRange } from './resolved.js';
import { type CallComparison, report, type Scope } from './scope.js';
import type { StageReader } from './stage-reader.js';

type ReadDuration = (duration: Duration) => Duration;

interface Asked {
  /** Undefined: events of any type. */
  readonly events?: EventSet | undefined;
  /** Restricts the events of the source. */
  readonly condition?: Condition | undefined;
  /** Rewrites a duration for sources that read it differently. */
  readonly readDuration?: ReadDuration | undefined;
  /** What conditions filter; `unknown` where calls do not fit. */
  readonly rows?: CallRows['rows'] | 'unknown';
}

export function takeSelection(
  scope: Scope,
  stages: StageReader,
  { events, condition, readDuration, rows = 'events' }: Asked = {},
): EventSelection {
  const time = stages.takeTime();
  const range =
    (time && resolveTimeStage(scope, readTime(time, readDuration))) ?? lastDays(scope.nowMs, stages.defaultDays);
  const resolveCall = rows === 'unknown' ? refuseCalls(stages.source) : callResolver({ range, rows, readDuration });
  scope.selected.resolveCall = resolveCall;
  const conditions = stages
    .takeAll('where')
    .map((stage) => resolveCondition({ ...scope, resolveCall }, stage.condition));
  const asked = joinConditions([condition, events?.condition, ...conditions].filter(isDefined));
  if (time === undefined && asked && readsTime(asked)) warnOfDefaultRange(scope, stages.defaultDays);
  return { eventTypes: events?.eventTypes, range, condition: asked };
}

const readTime = (stage: TimeStage, read: ReadDuration | undefined): TimeStage =>
  read && stage.kind === 'last' ? { ...stage, duration: read(stage.duration) } : stage;

/** Whether a condition compares the time of events. */
const readsTime = (condition: Condition): boolean =>
  fieldsOf(condition).some((field) => field.kind === 'column' && field.field.column === 'time');

const warnOfDefaultRange = (scope: Scope, days: number): void =>
  void scope.warnings.push(
    `only the last ${days} days are read: time in where narrows them; write since 2026-11-01, or from 2026-11-01 to 2026-11-08`,
  );

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
export function takeEarlier(
  scope: Scope,
  stages: StageReader,
  { range }: EventSelection,
  readDuration?: ReadDuration,
): TimeRange | undefined {
  const compare = stages.takeOne('compare');
  if (compare === undefined) return undefined;
  const { to } = compare;
  const read = readDuration && to.kind === 'duration' ? { ...to, duration: readDuration(to.duration) } : to;
  return resolveComparedRange(scope, { ...compare, to: read }, range, stages.takeAll(...TIME_STAGES)[0]);
}
