// Analyzer of the source `paths`.

import { resolveAnswerOrder } from '../../analyze/answer-order.js';
import { resolveBehaviour, resolveBy, resolveWindow, selectEvents } from '../../analyze/behaviour.js';
import type { ResolvedQuery } from '../../analyze/resolved.js';
import type { Scope } from '../../analyze/scope.js';
import { isKind, onlyStage, resolveRowsMax } from '../../analyze/stages.js';
import { requireEventField } from '../../fields.js';
import type { Source, Stage } from '../../parse/syntax.js';
import { lastDays } from '../../time/range.js';

type PathsSource = Extract<Source, { kind: 'paths' }>;

const DEFAULT_DAYS = 7;
const DEFAULT_DEPTH = 5;
const DEFAULT_ROWS = 20;

export function analyzePaths(scope: Scope, source: PathsSource, stages: readonly Stage[]): ResolvedQuery {
  const behaviour = resolveBehaviour(scope, {
    source: 'paths',
    stages,
    fits: ['window', 'depth', 'by', 'sort', 'top'],
    answers: 'answers users by path',
    fallback: lastDays(scope.nowMs, DEFAULT_DAYS),
  });
  const depth = onlyStage(scope, stages, { matches: isKind('depth'), what: 'depth', hint: 'remove one of them' });
  const by = resolveBy(scope, stages, { source: 'paths', granularities: [], takesField: true });
  return {
    kind: 'paths',
    selection: selectEvents(scope, source.anchor, behaviour),
    direction: source.direction,
    windowMs: resolveWindow(scope, stages),
    depth: (depth && resolveRowsMax(scope, depth)) ?? DEFAULT_DEPTH,
    label: by.breakdown?.field ?? { kind: 'column', name: 'event_type', field: requireEventField('event_type') },
    ...resolveAnswerOrder(scope, stages, { columns: ['path', 'users'], ascending: ['path'], metric: 'users' }),
    rowsMax: behaviour.rowsMax ?? DEFAULT_ROWS,
    timezone: scope.timezone,
    warnings: scope.warnings,
  };
}
