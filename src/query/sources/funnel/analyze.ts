// Analyzer of the source `funnel`.

import { resolveBehaviour, resolveBy, resolveWindow } from '../../analyze/behaviour.js';
import type { ResolvedQuery } from '../../analyze/resolved.js';
import { report, type Scope } from '../../analyze/scope.js';
import { isKind } from '../../analyze/stages.js';
import { quote } from '../../errors.js';
import type { Source, Stage, Text } from '../../parse/syntax.js';
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
  for (const event of exclude) checkExcluded(scope, event, source.steps);
  const by = resolveBy(scope, stages, { source: 'funnel', granularities: [], takesField: true });
  return {
    kind: 'funnel',
    selection: { eventType: undefined, range: behaviour.range, condition: behaviour.condition },
    steps: source.steps.map((step) => step.text),
    exclude: [...new Set(exclude.map((event) => event.text))],
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
      `write funnel ${only.text} -> purchase, with two steps or more`,
    );
  }
}

function checkExcluded(scope: Scope, event: Text, steps: readonly Text[]): void {
  if (!steps.some((step) => step.text === event.text)) return;
  report(
    scope,
    event.span,
    `${quote(event.text)} is a step of the funnel and excluded`,
    'exclude takes events that are no steps',
  );
}
