// Analyzer of the source `funnel`.

import { resolveBehaviour, resolveBy, resolveWindow } from '../../analyze/behaviour.js';
import type { EventSet, ResolvedQuery } from '../../analyze/resolved.js';
import { report, type Scope } from '../../analyze/scope.js';
import { isKind } from '../../analyze/stages.js';
import { resolveEvents } from '../../conditions/events.js';
import { quote } from '../../errors.js';
import { isDefined } from '../../is-defined.js';
import type { EventPattern, Source, Stage } from '../../parse/syntax.js';
import { lastDays } from '../../time/range.js';

type FunnelSource = Extract<Source, { kind: 'funnel' }>;

const DEFAULT_DAYS = 7;

export function analyzeFunnel(scope: Scope, source: FunnelSource, stages: readonly Stage[]): ResolvedQuery {
  const behaviour = resolveBehaviour(scope, {
    source: 'funnel',
    stages,
    fits: ['window', 'exclude', 'by'],
    answers: 'answers users, rates and the median time of each step',
    fallback: lastDays(scope.nowMs, DEFAULT_DAYS),
  });
  checkSteps(scope, source);
  const exclude = [...source.exclude, ...stages.filter(isKind('exclude')).flatMap((stage) => stage.events)];
  const unique = exclude.filter(
    (event, index) => exclude.findIndex(({ written }) => written === event.written) === index,
  );
  for (const event of exclude) checkExcluded(scope, event, source.steps);
  const [steps, excluded] = [source.steps, unique].map((patterns) =>
    patterns.map((pattern) => resolveEvents(scope, pattern)).filter(isDefined),
  ) as [EventSet[], EventSet[]];
  const by = resolveBy(scope, stages, { source: 'funnel', granularities: [], takesField: true });
  return {
    kind: 'funnel',
    selection: { eventTypes: undefined, range: behaviour.range, condition: behaviour.condition },
    steps,
    exclude: excluded,
    windowMs: resolveWindow(scope, stages),
    by: by.breakdown,
    rowsMax: behaviour.rowsMax,
    timezone: scope.timezone,
    warnings: scope.warnings,
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
