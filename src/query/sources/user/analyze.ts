// Analyzer of the source `user "<id>"`: events of one person, by distinct_id or e-mail address.
import { report, type Scope } from '../../analyze/scope.js';
import type { StageReader } from '../../analyze/stage-reader.js';
import type { Text } from '../../parse/syntax.js';
import { analyzeEventRows, type EventsQuery } from '../events/analyze.js';

export function analyzeUser(scope: Scope, { id }: { readonly id: Text }, stages: StageReader): EventsQuery {
  if (id.text === '') report(scope, id.span, 'the user has no id', 'write user "<distinct_id or e-mail address>"');
  return analyzeEventRows(scope, stages, { mode: 'user', condition: { kind: 'person', id: id.text }, isListed: true });
}
