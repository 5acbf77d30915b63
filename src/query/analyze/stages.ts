// Stage checks shared by all sources: allowed stages, duplicates, and order.
import { STAGES } from '../language.js';
import type { Stage, StageKind } from '../parse/syntax.js';
import type { TimeStage } from '../time/range.js';
import { report, type Scope } from './scope.js';

export type StageOf<K extends Stage['kind']> = Extract<Stage, { kind: K }>;

export const isKind =
  <K extends Stage['kind']>(kind: K) =>
  (stage: Stage): stage is StageOf<K> =>
    stage.kind === kind;

/** First word of a stage, for messages. */
export function stageWord(stage: Stage): string {
  switch (stage.kind) {
    case 'aggregate':
      return stage.name;
    case 'from_to':
      return 'from';
    case 'last_period':
      return 'last';
    case 'named_range':
      return stage.word;
    default:
      return stage.kind;
  }
}

const TIME_STAGES: readonly StageKind[] = ['last', 'from_to', 'since', 'named_range', 'this', 'last_period'];
export const isTimeStage = (stage: Stage): stage is TimeStage => TIME_STAGES.includes(stage.kind);

export const isSize = (stage: Stage): stage is StageOf<'limit' | 'top' | 'depth'> =>
  stage.kind === 'limit' || stage.kind === 'top';

export function reportMisfit(scope: Scope, stage: Stage, source: string): undefined {
  const fits = stage.kind === 'broken' ? undefined : STAGES[stage.kind].sources;
  return report(
    scope,
    stage.span,
    `${stageWord(stage)} does not fit ${source}`,
    fits ? `it goes with ${fits}` : 'remove it',
  );
}

/** The single matching stage; further ones are reported. */
export function onlyStage<S extends Stage>(
  scope: Scope,
  stages: readonly Stage[],
  wanted: { matches: (stage: Stage) => stage is S; what: string; hint: string },
): S | undefined {
  const [first, ...others] = stages.filter(wanted.matches);
  for (const other of others) report(scope, other.span, `${wanted.what} is given twice`, wanted.hint);
  return first;
}

export const ROWS_MAX = 10_000;

export function resolveRowsMax(scope: Scope, stage: StageOf<'limit' | 'top' | 'depth'>): number | undefined {
  const count = Number(stage.count.text);
  if (Number.isInteger(count) && count >= 1 && count <= ROWS_MAX) return count;
  return report(
    scope,
    stage.count.span,
    `${stage.kind} ${stage.count.text} is out of range`,
    `it is a whole number from 1 to ${ROWS_MAX}`,
  );
}
