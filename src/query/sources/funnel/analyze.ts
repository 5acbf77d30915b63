// Analyzer of the source `funnel`.
import { takeBy, takeWindow } from '../../analyze/by.js';
import type { Breakdown, EventSelection, EventSet } from '../../analyze/resolved.js';
import { report, type Scope } from '../../analyze/scope.js';
import { takeSelection } from '../../analyze/selection.js';
import type { StageReader } from '../../analyze/stage-reader.js';
import { resolveEvents } from '../../conditions/events.js';
import { quote } from '../../errors.js';
import { isDefined } from '../../is-defined.js';
import type { EventPattern } from '../../parse/syntax.js';

export interface FunnelSource {
  readonly steps: readonly EventPattern[];
  readonly exclude: readonly EventPattern[];
}

export interface FunnelQuery {
  readonly kind: 'funnel';
  /** Has no event type: steps and excluded events are read together. */
  readonly selection: EventSelection;
  readonly steps: readonly EventSet[];
  readonly exclude: readonly EventSet[];
  readonly windowMs: number;
  readonly by: Breakdown | undefined;
  readonly rowsMax: number | undefined;
}

export function analyzeFunnel(scope: Scope, source: FunnelSource, stages: StageReader): FunnelQuery {
  const selection = takeSelection(scope, stages);
  checkSteps(scope, source);
  const windowMs = takeWindow(scope, stages);
  const exclude = [...source.exclude, ...stages.takeAll('exclude').flatMap((stage) => stage.events)];
  for (const event of exclude) checkExcluded(scope, event, source.steps);
  const unique = exclude.filter(
    (event, index) => exclude.findIndex(({ written }) => written === event.written) === index,
  );
  const resolveAll = (patterns: readonly EventPattern[]): EventSet[] =>
    patterns.map((pattern) => resolveEvents(scope, pattern)).filter(isDefined);
  return {
    kind: 'funnel',
    selection,
    steps: resolveAll(source.steps),
    exclude: resolveAll(unique),
    windowMs,
    by: takeBy(scope, stages, { granularities: [], takesField: true }).breakdown,
    rowsMax: stages.takeRowLimit(),
  };
}

function checkSteps(scope: Scope, { steps }: FunnelSource): void {
  const [only] = steps;
  if (steps.length === 1 && only) {
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
