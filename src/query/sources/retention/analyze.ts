// Analyzer of the source `retention`.
import { type AnswerOrder, takeAnswerOrder } from '../../analyze/answer-order.js';
import { takeBy } from '../../analyze/by.js';
import type { Breakdown, CalendarPeriod, EventSelection, EventSet } from '../../analyze/resolved.js';
import type { Scope } from '../../analyze/scope.js';
import { takeSelection } from '../../analyze/selection.js';
import { type StageReader, wordingOf } from '../../analyze/stage-reader.js';
import { resolveEvents } from '../../conditions/events.js';
import type { EventPattern } from '../../parse/syntax.js';
import { isPeriod, PERIODS } from '../../time/calendar-periods.js';
import type { TimeStage } from '../../time/range.js';

export interface RetentionSource {
  readonly start: EventPattern;
  readonly returning: EventPattern | undefined;
}

export interface RetentionQuery extends AnswerOrder {
  readonly kind: 'retention';
  /** Has no event type: start and return events are read together. */
  readonly selection: EventSelection;
  readonly start: EventSet;
  /** Undefined: any event. */
  readonly returning: EventSet | undefined;
  readonly period: CalendarPeriod;
  readonly by: Breakdown | undefined;
}

const COLUMNS = ['cohort', 'cohort_size', 'period', 'users', 'rate'];

/** In retention, `m` means months, because periods are days, weeks or months. */
function readMonths(stage: TimeStage): TimeStage {
  if (stage.kind !== 'last' || stage.duration.unit !== 'm') return stage;
  return { ...stage, duration: { ...stage.duration, unit: 'mo' } };
}

export function analyzeRetention(
  scope: Scope,
  source: RetentionSource,
  stages: StageReader,
): RetentionQuery | undefined {
  const selection = takeSelection(scope, stages, { readTime: readMonths });
  const inSource = source.returning ? [{ event: source.returning, span: source.returning.span }] : [];
  const returning = stages.only([...inSource, ...stages.takeAll('returning')], wordingOf('returning'))?.event;
  const start = resolveEvents(scope, source.start);
  const returned = returning && resolveEvents(scope, returning);
  const by = takeBy(scope, stages, { granularities: PERIODS, takesField: true });
  const groups = by.breakdown ? [by.breakdown.name] : [];
  const answer = takeAnswerOrder(scope, stages, {
    columns: [...groups, ...COLUMNS],
    ascending: [...groups, 'period'],
    metric: undefined,
  });
  if (start === undefined) return undefined;
  return {
    kind: 'retention',
    selection,
    start,
    returning: returning?.matches.some(({ name }) => name === undefined) ? undefined : returned,
    period: isPeriod(by.granularity) ? by.granularity : 'week',
    by: by.breakdown,
    ...answer,
  };
}
