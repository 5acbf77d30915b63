// Analyzer of the source `user "<id>"`: events of one person, by distinct_id or e-mail address.

import type { ResolvedQuery } from '../../analyze/resolved.js';
import { report, type Scope } from '../../analyze/scope.js';
import type { Source, Stage } from '../../parse/syntax.js';
import { analyzeEventSource } from '../latest/analyze.js';

const DEFAULT_DAYS = 30;

export function analyzeUser(
  scope: Scope,
  { id }: Extract<Source, { kind: 'user' }>,
  stages: readonly Stage[],
): ResolvedQuery | undefined {
  if (id.text === '') report(scope, id.span, 'the user has no id', 'write user "<distinct_id or e-mail address>"');
  const condition = { kind: 'person', id: id.text } as const;
  const form = { mode: 'user', name: 'user', defaultDays: DEFAULT_DAYS, condition, isList: true } as const;
  return analyzeEventSource(scope, { events: undefined, stages, form });
}
