// Analyzer entry: resolves a query and collects its problems.

import { CompileWork } from '../compile-work.js';
import { mergeConditions } from '../conditions/merge.js';
import type { Definitions } from '../definitions/definitions.js';
import { expandDefinitions } from '../definitions/expand.js';
import type { QueryProblem } from '../errors.js';
import type { Query, Stage, StageKind } from '../parse/syntax.js';
import { GUESSES, type GuessOf } from '../property-guess.js';
import { type ResolvedSource, SOURCES } from '../sources/index.js';
import type { SourceRow } from '../sources/source.js';
import { isWithinLimits } from './form.js';
import { noMentions } from './mentions.js';
import type { ResolvedQuery } from './resolved.js';
import { columnsOf } from './row-filters.js';
import { report, type Scope } from './scope.js';
import { StageReader } from './stage-reader.js';

export interface AnalysisContext {
  readonly nowMs: number;
  readonly timezone: string;
  readonly guessOf?: GuessOf;
  /** Keys of event properties that the project has sent, for hints of unknown names. */
  readonly propertyKeys?: readonly string[];
  /** What the project has defined. */
  readonly definitions?: Definitions | undefined;
  /** Bounds the work on names and definitions; default: the bounds of one compilation. */
  readonly work?: CompileWork | undefined;
}

export interface Analyzed {
  /** Undefined when there are problems. */
  readonly query: ResolvedQuery | undefined;
  readonly problems: readonly QueryProblem[];
  /** The definitions that the query uses. */
  readonly definitions: Definitions;
}

/** Throws TooMuchText when the definitions exceed what `work` allows. */
export function analyze(written: Query, context: AnalysisContext): Analyzed {
  const work = context.work ?? new CompileWork();
  const expanded = expandDefinitions(written, context.definitions, work);
  const query = mergeConditions(expanded.query);
  const mentions = noMentions(context.definitions);
  const found = {
    ...{ problems: [...expanded.problems], warnings: [], mentions, nearest: work.nearest },
    ...{ named: { times: 0 }, calls: new Map(), selected: {} },
  };
  const scope: Scope = { guessOf: () => GUESSES[0], ...context, ...found };
  const resolved = isWithinLimits(scope, query) ? analyzeSource(scope, query) : undefined;
  const isBroken = query.source === 'broken' || query.stages.some((stage) => stage.kind === 'broken');
  return {
    query: isBroken || scope.problems.length > 0 ? undefined : resolved,
    problems: scope.problems,
    definitions: expanded.used,
  };
}

/** Without an aggregate, the source decides what these mean. */
const OF_SOURCE: readonly string[] = ['unit', 'people', 'sort'] satisfies StageKind[];

const isOfAnySource = (stages: readonly Stage[]) => (stage: Stage) =>
  !OF_SOURCE.includes(stage.kind) || stages.some(({ kind }) => kind === 'aggregate');

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
  // The parser has reported a broken source; still analyze the stages, as for all events.
  const isMissing = source === undefined || source === 'broken';
  const known = isMissing ? { kind: 'all' as const, span: { from: 0, to: 0 } } : source;
  // The row of the source's own kind takes this source.
  const row = SOURCES[known.kind] as SourceRow<never, ResolvedSource>;
  const fitting = source === 'broken' ? stages.filter(isOfAnySource(stages)) : stages;
  const reader = new StageReader(scope, { ...query, stages: fitting }, { ...row, name: row.name ?? known.kind });
  const columns = columnsOf(stages, row.columns ?? []);
  const resolved = row.analyze({ ...scope, columns }, known as never, reader);
  // Whether the rest fits the source that was meant is unknown.
  if (source !== 'broken') reader.rejectRest();
  const { timezone, warnings, mentions } = scope;
  const hasCohorts = scope.selected.cohort !== undefined;
  return resolved && { ...resolved, timezone, warnings, mentions, hasCohorts };
}
