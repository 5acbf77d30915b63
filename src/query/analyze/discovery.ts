// `fields` and `inspect`: what there is to ask about.
import type { Source, Stage } from '../parse/syntax.js';
import { resolveBehaviour } from './behaviour.js';
import type { ResolvedQuery } from './resolved.js';
import type { Scope } from './scope.js';
import { lastDays } from './time-range.js';

const DEFAULT_DAYS = 30;

export function analyzeFields(scope: Scope, stages: readonly Stage[]): ResolvedQuery {
  const { range, condition, rowsMax } = resolveBehaviour(scope, {
    source: 'fields',
    stages,
    fits: [],
    answers: 'lists the fields of events',
    fallback: lastDays(scope.nowMs, DEFAULT_DAYS),
  });
  const selection = { eventType: undefined, range, condition };
  return { kind: 'fields', selection, rowsMax, timezone: scope.timezone, warnings: scope.warnings };
}

export function analyzeInspect(
  scope: Scope,
  { event }: Extract<Source, { kind: 'inspect' }>,
  stages: readonly Stage[],
): ResolvedQuery {
  const { range, condition, rowsMax } = resolveBehaviour(scope, {
    source: 'inspect',
    stages,
    fits: [],
    answers: event.kind === 'any' ? 'lists event types' : 'lists the properties of one event type',
    fallback: lastDays(scope.nowMs, DEFAULT_DAYS),
  });
  const selection = { eventType: event.kind === 'any' ? undefined : event.name, range, condition };
  return { kind: 'inspect', selection, rowsMax, timezone: scope.timezone, warnings: scope.warnings };
}
