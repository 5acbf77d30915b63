// Analyzer entry: resolves a query and collects its problems.

import { resolveEvents } from '../conditions/events.js';
import { mergeConditions } from '../conditions/merge.js';
import type { QueryProblem } from '../errors.js';
import type { Query } from '../parse/syntax.js';
import { GUESSES, type GuessOf } from '../property-guess.js';
import { analyzeChoice } from '../sources/choice/analyze.js';
import { analyzeFields } from '../sources/fields/analyze.js';
import { analyzeFormula } from '../sources/formula/analyze.js';
import { analyzeFunnel } from '../sources/funnel/analyze.js';
import { analyzeInspect } from '../sources/inspect/analyze.js';
import { analyzeEventSource } from '../sources/latest/analyze.js';
import { analyzeLifecycle } from '../sources/lifecycle/analyze.js';
import { analyzePaths } from '../sources/paths/analyze.js';
import { analyzeRetention } from '../sources/retention/analyze.js';
import { analyzeSessions } from '../sources/sessions/analyze.js';
import { analyzeStickiness } from '../sources/stickiness/analyze.js';
import { analyzeUser } from '../sources/user/analyze.js';
import { analyzeUsers } from '../sources/users/analyze.js';
import { isWithinLimits } from './form.js';
import type { ResolvedQuery } from './resolved.js';
import { report, type Scope } from './scope.js';

export interface AnalysisContext {
  readonly nowMs: number;
  readonly timezone: string;
  readonly guessOf?: GuessOf;
}

export interface Analyzed {
  /** Undefined when there are problems. */
  readonly query: ResolvedQuery | undefined;
  readonly problems: readonly QueryProblem[];
}

export function analyze(written: Query, context: AnalysisContext): Analyzed {
  const query = mergeConditions(written);
  const scope: Scope = { guessOf: () => GUESSES[0], ...context, problems: [], warnings: [], named: { times: 0 } };
  const resolved = isWithinLimits(scope, query) ? analyzeSource(scope, query) : undefined;
  const isBroken = query.source === 'broken' || query.stages.some((stage) => stage.kind === 'broken');
  return { query: isBroken || scope.problems.length > 0 ? undefined : resolved, problems: scope.problems };
}

/** A forgotten source reads a stage word as an event type that no client sends: warn, because zeros look like an answer. */
const warningOfStage = (word: string): string =>
  `${word} is read as a type of events here; for all events write * | ${word}, for events that are called so "${word}"`;

function analyzeSource(scope: Scope, query: Query): ResolvedQuery | undefined {
  const { source, stages } = query;
  if (source === undefined && stages.length === 0) {
    return report(
      scope,
      { from: 0, to: 0 },
      'the query is empty',
      'a query is: source | stage | stage, as in: signup | last 7d | count by day',
    );
  }
  if (source === undefined) return analyzeEventSource(scope, { events: undefined, stages });
  // The parser has reported the source; still analyze the stages, as for all events.
  if (source === 'broken') return analyzeEventSource(scope, { events: undefined, stages });
  switch (source.kind) {
    case 'all':
      return analyzeEventSource(scope, { events: undefined, stages });
    case 'event':
      if (source.isLikeStage) scope.warnings.push(warningOfStage(source.event.written));
      return analyzeEventSource(scope, { events: resolveEvents(scope, source.event), stages });
    case 'fields':
      return analyzeFields(scope, stages);
    case 'inspect':
      return analyzeInspect(scope, source, stages);
    case 'users':
      return analyzeUsers(scope, stages);
    case 'sessions':
      return analyzeSessions(scope, stages);
    case 'choice':
      return analyzeChoice(scope, source, stages);
    case 'user':
      return analyzeUser(scope, source, stages);
    case 'funnel':
      return analyzeFunnel(scope, source, stages);
    case 'retention':
      return analyzeRetention(scope, source, stages);
    case 'paths':
      return analyzePaths(scope, source, stages);
    case 'lifecycle':
      return analyzeLifecycle(scope, source, stages);
    case 'stickiness':
      return analyzeStickiness(scope, source, stages);
    case 'formula':
      return analyzeFormula(scope, source, stages);
  }
}
