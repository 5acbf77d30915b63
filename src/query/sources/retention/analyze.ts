// Analyzer of the source `retention`.
import { resolveMeasure } from '../../analyze/aggregate.js';
import { type AnswerOrder, orderOf, takeAnswerOrder } from '../../analyze/answer-order.js';
import { takeBy } from '../../analyze/by.js';
import type {
  Breakdown,
  CalendarPeriod,
  EventSelection,
  EventSet,
  ResolvedField,
  TimeRange,
  Unit,
} from '../../analyze/resolved.js';
import { report, type Scope } from '../../analyze/scope.js';
import { takeEarlier, takeSelection } from '../../analyze/selection.js';
import { type StageReader, wordingOf } from '../../analyze/stage-reader.js';
import { takeUnit } from '../../analyze/unit.js';
import { namesOfCompared } from '../../compared-names.js';
import { findFieldOrProperty, resolveEvents } from '../../conditions/events.js';
import type { Duration, EventPattern, StageOf } from '../../parse/syntax.js';
import { ALL_PERIODS, isPeriod } from '../../time/calendar-periods.js';
import { resolveLength } from '../../time/range.js';
import { type RetentionPeople, takeRetentionPeople } from './people.js';

export interface RetentionSource {
  readonly start: EventPattern;
  readonly returning: EventPattern | undefined;
}

export interface RetentionQuery extends AnswerOrder {
  readonly kind: 'retention';
  /** Has no event type: start and return events are read together. */
  readonly selection: EventSelection;
  /** The range of `compare`. */
  readonly earlier: TimeRange | undefined;
  readonly start: EventSet;
  /** Who comes back; undefined: people. */
  readonly unit: Unit | undefined;
  /** Undefined: any event. */
  readonly returning: EventSet | undefined;
  readonly period: CalendarPeriod;
  readonly by: Breakdown | undefined;
  /** Whether a person counts in every period up to that of the last return. */
  readonly isUnbounded: boolean;
  /** Whether the cohort is that of the first start event ever, not of the first in the range. */
  readonly isFirstEver: boolean;
  /**
   * Length of periods that begin with each person's start event; undefined for calendar periods.
   */
  readonly windowMs: number | undefined;
  /** Lists people instead of counting them. */
  readonly people: RetentionPeople | undefined;
  /** Number that is summed over return events. */
  readonly sum: ResolvedField | undefined;
}

export const METRICS: readonly string[] = ['cohort_size', 'users', 'rate'];
const COLUMNS = ['cohort', 'cohort_size', 'period', 'users', 'rate'];
const SUM_COLUMNS = ['total', 'cumulative'];

/** In retention, `m` means months, because periods are days, weeks or longer. */
const readMonths = (duration: Duration): Duration => (duration.unit === 'm' ? { ...duration, unit: 'mo' } : duration);

export function analyzeRetention(
  scope: Scope,
  source: RetentionSource,
  stages: StageReader,
): RetentionQuery | undefined {
  const selection = takeSelection(scope, stages, { readDuration: readMonths });
  const inSource = source.returning ? [{ event: source.returning, span: source.returning.span }] : [];
  const returning = stages.only([...inSource, ...stages.takeAll('returning')], wordingOf('returning'))?.event;
  const start = resolveEvents(scope, source.start);
  const returned = returning && resolveEvents(scope, returning);
  const sumStage = stages.takeAggregate('sum');
  const isUnbounded = stages.takeOne('unbounded') !== undefined;
  const sum = sumStage && resolveSum(scope, sumStage, isUnbounded);
  const by = takeBy(scope, stages, { granularities: ALL_PERIODS, takesField: true, keys: sumStage?.by ?? [] });
  const groups = by.breakdown ? [by.breakdown.name] : [];
  const earlier = takeEarlier(scope, stages, selection, readMonths);
  const isFirstEver = stages.takeOne('first') !== undefined;
  const windowMs = takePeriodLength(scope, stages);
  const period = isPeriod(by.granularity) ? by.granularity : 'week';
  const people = takeRetentionPeople(scope, stages, { range: selection.range, period, windowMs, by });
  const answer =
    people ??
    takeAnswerOrder(scope, stages, {
      columns: [
        ...groups,
        ...COLUMNS,
        ...(sumStage ? SUM_COLUMNS : []),
        ...(earlier ? ['previous_cohort', ...namesOfCompared(...METRICS)] : []),
      ],
      ascending: [...groups, 'period'],
      metric: undefined,
    });
  const unit = takeUnit(scope, stages);
  if (earlier) refuseWithCompare(scope, sumStage, ...stages.takeAll('window'));
  if (start === undefined) return undefined;
  return {
    kind: 'retention',
    selection,
    earlier,
    start,
    unit,
    returning: returning?.matches.some(({ name }) => name === undefined) ? undefined : returned,
    period,
    people,
    by: by.breakdown,
    isUnbounded,
    isFirstEver,
    windowMs,
    sum,
    ...orderOf(answer),
  };
}

function refuseWithCompare(scope: Scope, ...stages: readonly (StageOf<'aggregate' | 'window'> | undefined)[]): void {
  for (const stage of stages) {
    if (!stage) continue;
    const word = stage.kind === 'aggregate' ? stage.name : stage.kind;
    report(scope, stage.span, `${word} does not go with compare in retention`, 'ask in two queries');
  }
}

function resolveSum(scope: Scope, stage: StageOf<'aggregate'>, isUnbounded: boolean): ResolvedField | undefined {
  if (isUnbounded) {
    return report(
      scope,
      stage.span,
      'sum does not fit unbounded',
      'remove unbounded: the column cumulative has the sum up to each period',
    );
  }
  const measure = resolveMeasure({ ...scope, findField: findFieldOrProperty }, stage);
  return measure?.kind === 'numeric' ? measure.field : undefined;
}

/**
 * `window 1m` is refused, because `last 1m` of retention is a month and any other window a minute.
 */
function takePeriodLength(scope: Scope, stages: StageReader): number | undefined {
  const window = stages.takeOne('window');
  if (window?.duration.unit !== 'm') return window && resolveLength(scope, window.duration);
  const { amount, span } = window.duration;
  const hint = `write window ${amount} minutes, or window ${amount}mo`;
  return report(scope, span, `window ${amount}m may be minutes or months in retention`, hint);
}
