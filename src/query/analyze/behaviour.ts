// Analysis shared by behaviour sources (funnel, retention, paths, lifecycle, stickiness): allowed stages, time range,
// condition, breakdown, row limit.

import { resolveEvents } from '../conditions/events.js';
import { joinConditions, resolveCondition } from '../conditions/resolve.js';
import { quote } from '../errors.js';
import { GRANULARITIES, type Granularity } from '../fields.js';
import { isDefined } from '../is-defined.js';
import type { EventPattern, FieldName, Stage, StageKind } from '../parse/syntax.js';
import { resolveLength, resolveTimeStage, type TimeStage } from '../time/range.js';
import { plainName, resolveField } from './resolve-field.js';
import type { Breakdown, Condition, EventSelection, TimeRange } from './resolved.js';
import { report, type Scope } from './scope.js';
import {
  isKind,
  isSize,
  isTimeStage,
  onlyStage,
  reportMisfit,
  resolveRowsMax,
  type StageOf,
  stageWord,
} from './stages.js';

export interface BehaviourStages {
  /** Name of the source in messages. */
  readonly source: string;
  readonly stages: readonly Stage[];
  /** Allowed stages besides `where`, a time range and `limit`. */
  readonly fits: readonly StageKind[];
  /** Describes the source's answer in the error for an aggregate. */
  readonly answers: string;
  readonly fallback: TimeRange;
  /** Rewrites a time stage for sources that read it differently. */
  readonly readTime?: (stage: TimeStage) => TimeStage;
}

export interface Behaviour {
  readonly range: TimeRange;
  readonly condition: Condition | undefined;
  readonly rowsMax: number | undefined;
}

export function resolveBehaviour(scope: Scope, asked: BehaviourStages): Behaviour {
  const { stages, fallback } = asked;
  for (const stage of stages) checkFits(scope, asked, stage);
  const time = onlyStage(scope, stages, {
    matches: isTimeStage,
    what: 'the time range',
    hint: 'a query has one time range',
  });
  const conditions = stages
    .filter(isKind('where'))
    .map((stage) => resolveCondition(scope, stage.condition))
    .filter(isDefined);
  const fitsSize = (stage: Stage): stage is StageOf<'limit' | 'top' | 'depth'> =>
    isSize(stage) && (stage.kind === 'limit' || asked.fits.includes('top'));
  const size = onlyStage(scope, stages, { matches: fitsSize, what: 'limit', hint: 'remove one of them' });
  return {
    range: (time && resolveTimeStage(scope, asked.readTime?.(time) ?? time)) ?? fallback,
    condition: joinConditions(conditions),
    rowsMax: size && resolveRowsMax(scope, size),
  };
}

/** The events of a pattern within what `resolveBehaviour` found. */
export function selectEvents(scope: Scope, pattern: EventPattern, { range, condition }: Behaviour): EventSelection {
  const events = resolveEvents(scope, pattern);
  return {
    eventTypes: events?.eventTypes,
    range,
    condition: joinConditions([events?.condition, condition].filter(isDefined)),
  };
}

const AGGREGATING: readonly StageKind[] = ['aggregate', 'list', 'sort', 'top'];

function checkFits(scope: Scope, { source, fits, answers }: BehaviourStages, stage: Stage): void {
  if (isTimeStage(stage) || ['where', 'limit', 'broken', ...fits].includes(stage.kind)) return;
  if (!AGGREGATING.includes(stage.kind)) {
    reportMisfit(scope, stage, source);
    return;
  }
  report(
    scope,
    stage.span,
    `${stageWord(stage)} does not fit ${source}, which ${answers}`,
    `it goes with ${['where', 'a time range', ...fits, 'limit'].join(', ')}`,
  );
}

const findGranularity = (name: FieldName): Granularity | undefined =>
  GRANULARITIES.find((granularity) => granularity === name.written);

export interface ByParts {
  readonly source: string;
  readonly granularities: readonly Granularity[];
  readonly takesField: boolean;
}

export interface By {
  readonly granularity: Granularity | undefined;
  readonly breakdown: Breakdown | undefined;
}

/** Resolves `by`: at most one granularity and one field, as far as the source allows them. */
export function resolveBy(scope: Scope, stages: readonly Stage[], { source, granularities, takesField }: ByParts): By {
  let granularity: Granularity | undefined;
  let breakdown: Breakdown | undefined;
  const form = [...granularities, ...(takesField ? ['a field'] : [])].join(', ');
  for (const key of stages.filter(isKind('by')).flatMap((stage) => stage.keys)) {
    const name = plainName(scope, key, source);
    if (name === undefined) continue;
    const found = findGranularity(name);
    if (found ? !granularities.includes(found) : !takesField) {
      report(scope, name.span, `by ${name.written} does not fit ${source}`, `by takes ${form}`);
    } else if (found ? granularity : breakdown) {
      const first = found ? granularity : breakdown?.name;
      report(scope, name.span, `by has ${quote(first ?? '')} already`, `${source} takes one; remove one of them`);
    } else if (found) {
      granularity = found;
    } else {
      const field = resolveField(scope, name);
      if (field) breakdown = { name: name.written, field };
    }
  }
  return { granularity, breakdown };
}

const HOUR_MS = 3_600_000;

/** Length of the `window` stage in milliseconds; default one hour, or `fallbackMs`. */
export function resolveWindow(scope: Scope, stages: readonly Stage[], fallbackMs = HOUR_MS): number {
  const window = onlyStage(scope, stages, {
    matches: isKind('window'),
    what: 'the window',
    hint: 'remove one of them',
  });
  return (window && resolveLength(scope, window.duration)) ?? fallbackMs;
}
