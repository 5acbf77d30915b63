// Analyzer of the source `funnel`.
import { takeBy, takeWindow } from '../../analyze/by.js';
import type { Breakdown, CalendarPeriod, EventSelection, EventSet, TimeRange, Unit } from '../../analyze/resolved.js';
import { report, type Scope } from '../../analyze/scope.js';
import { takeEarlier, takeSelection } from '../../analyze/selection.js';
import type { StageReader } from '../../analyze/stage-reader.js';
import { takeUnit } from '../../analyze/unit.js';
import { resolveEvents } from '../../conditions/events.js';
import { quote } from '../../errors.js';
import { isDefined } from '../../is-defined.js';
import type { EventPattern } from '../../parse/syntax.js';
import { isPeriod, PERIODS } from '../../time/calendar-periods.js';
import { resolveLength } from '../../time/range.js';
import { type FunnelPeople, takeFunnelPeople } from './people.js';

export interface FunnelSource {
  /** Otherwise steps may be missing, which is reported. */
  readonly isWhole: boolean;
  readonly steps: readonly EventPattern[];
  readonly exclude: readonly EventPattern[];
}

export type FunnelOrder = 'written' | 'any' | 'strict';

/** Metrics that `compare` compares. */
export const METRICS: readonly string[] = ['users', 'rate', 'step_rate'];

/** Rows of a histogram, for each step. */
const BINS_MAX = 10_000;

export interface FunnelQuery {
  readonly kind: 'funnel';
  /** Has no event type: steps and excluded events are read together. */
  readonly selection: EventSelection;
  /** The range of `compare`. */
  readonly earlier: TimeRange | undefined;
  readonly steps: readonly EventSet[];
  readonly exclude: readonly EventSet[];
  readonly windowMs: number;
  /** Who does the steps; undefined: people. */
  readonly unit: Unit | undefined;
  /**
   * `written`: each step after the one before it. `any`: in any order. `strict`: without another
   * event between two steps.
   */
  readonly order: FunnelOrder;
  /** Buckets of the time at which attempts began. */
  readonly granularity: CalendarPeriod | undefined;
  readonly by: Breakdown | undefined;
  /** Whether the column of `by` comes before that of the buckets. */
  readonly isFieldFirst: boolean;
  /**
   * Times of the steps instead of users and rates: quantiles, or a histogram of bins of this width.
   */
  readonly times: { readonly widthMs: number | undefined } | undefined;
  /** Lists people instead of counting them. */
  readonly people: FunnelPeople | undefined;
  readonly rowsMax: number | undefined;
}

export function analyzeFunnel(scope: Scope, source: FunnelSource, stages: StageReader): FunnelQuery {
  const selection = takeSelection(scope, stages);
  checkSteps(scope, source);
  const people = takeFunnelPeople(scope, stages, source.isWhole ? source.steps.length : Number.POSITIVE_INFINITY);
  const windowMs = takeWindow(scope, stages);
  const unit = takeUnit(scope, stages);
  const exclude = [...source.exclude, ...stages.takeAll('exclude').flatMap((stage) => stage.events)];
  for (const event of exclude) checkExcluded(scope, event, source.steps);
  const unique = exclude.filter(
    (event, index) => exclude.findIndex(({ written }) => written === event.written) === index,
  );
  const order = takeOrder(scope, stages, exclude);
  const by = takeBy(scope, stages, { granularities: PERIODS, takesField: true });
  const earlier = takeEarlier(scope, stages, selection);
  const resolveAll = (patterns: readonly EventPattern[]): EventSet[] =>
    patterns.map((pattern) => resolveEvents(scope, pattern)).filter(isDefined);
  return {
    kind: 'funnel',
    selection,
    earlier,
    steps: resolveAll(source.steps),
    exclude: resolveAll(unique),
    windowMs,
    unit,
    order,
    granularity: isPeriod(by.granularity) ? by.granularity : undefined,
    by: by.breakdown,
    isFieldFirst: by.keys[0]?.kind === 'name' && by.keys[0].name.written === by.breakdown?.name,
    times: takeTimes(scope, stages, { windowMs, isCompared: earlier !== undefined }),
    people,
    rowsMax: people ? people.rowsMax : stages.takeRowLimit(),
  };
}

function takeOrder(scope: Scope, stages: StageReader, exclude: readonly EventPattern[]): FunnelOrder {
  const stage = stages.takeOne('order');
  if (stage === undefined) return 'written';
  const { order } = stage;
  const [excluded] = exclude;
  if (order === 'any' && excluded) {
    report(scope, excluded.span, 'exclude does not fit order any', 'steps in any order have no next step: remove one');
  }
  return order;
}

interface TimesAsked {
  readonly windowMs: number;
  readonly isCompared: boolean;
}

function takeTimes(scope: Scope, stages: StageReader, { windowMs, isCompared }: TimesAsked): FunnelQuery['times'] {
  const stage = stages.takeOne('times');
  if (stage === undefined) return undefined;
  if (isCompared) report(scope, stage.span, 'times does not go with compare', 'ask in two queries');
  if (stage.duration === undefined) return { widthMs: undefined };
  const widthMs = resolveLength(scope, stage.duration);
  if (widthMs === undefined || windowMs / widthMs <= BINS_MAX) return { widthMs };
  const message = `the window has more than ${BINS_MAX} bins of this width`;
  return report(scope, stage.duration.span, message, 'make them wider, as in times 1d, or the window shorter');
}

function checkSteps(scope: Scope, { steps, isWhole }: FunnelSource): void {
  const [only] = steps;
  if (isWhole && steps.length === 1 && only) {
    report(
      scope,
      only.span,
      'the funnel has one step',
      `write funnel ${only.written} -> purchase, with two steps or more`,
    );
  }
}

function checkExcluded(scope: Scope, event: EventPattern, steps: readonly EventPattern[]): void {
  if (!steps.some((step) => step.written === event.written)) return;
  report(
    scope,
    event.span,
    `${quote(event.written)} is a step of the funnel and excluded`,
    'exclude takes events that are no steps',
  );
}
