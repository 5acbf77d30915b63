// Resolves the stages that change the metric of an aggregate or set columns beside it: `compare`,
// `rolling`, `cumulative`, `share`.
import { isRecurring } from '../fields.js';
import type { GroupKey, StageOf } from '../parse/syntax.js';
import { resolveLength } from '../time/range.js';
import { checkCompared, columnsOfEarlier } from './compared.js';
import type { EachEntity, EventSelection, Group, Measure, MetricWindow, Rows, TimeRange } from './resolved.js';
import { report, type Scope } from './scope.js';
import { takeEarlier } from './selection.js';
import type { StageReader } from './stage-reader.js';

export interface MetricStages {
  /** The range of `compare`. */
  readonly earlier: TimeRange | undefined;
  readonly window: MetricWindow | undefined;
  readonly hasShare: boolean;
}

interface Aggregated {
  readonly selection: EventSelection;
  readonly rows: Rows | undefined;
  readonly each: EachEntity | undefined;
  readonly groups: readonly Group[];
  readonly keys: readonly GroupKey[];
  readonly size: StageOf<'limit' | 'top'> | undefined;
  readonly measure: Measure | undefined;
}

type WindowKind = 'rolling' | 'cumulative';
type WindowStage = StageOf<WindowKind>;

export function takeMetricStages(scope: Scope, stages: StageReader, of: Aggregated): MetricStages {
  const { rows, keys, groups, selection, size } = of;
  const earlier = rows?.kind === 'profiles' ? undefined : takeEarlier(scope, stages, selection);
  if (earlier) checkCompared(scope, { groups, keys, size, range: earlier });
  // Other rows are not taken: the stages are reported as not fitting.
  if (rows) return { earlier, window: undefined, hasShare: false };
  if (of.each) {
    refuseWithEach(scope, [...stages.takeAll('rolling', 'cumulative', 'share', 'unit'), ...(size ? [size] : [])]);
    return { earlier, window: undefined, hasShare: false };
  }
  const windowed = takeWindowStage(scope, stages);
  const share = stages.takeOne('share');
  const window = windowed && resolveWindow(scope, windowed, of);
  if (share) checkShare(scope, share, of);
  const added = windowed ?? share;
  if (added && earlier) report(scope, added.span, `${added.kind} does not go with compare`, APART);
  else if (windowed && share) report(scope, share.span, `share does not go with ${windowed.kind}`, APART);
  if (added && size?.kind === 'top' && size.withOther) {
    report(scope, size.span, `top … other does not go with ${added.kind}`, 'remove other, or ask in two queries');
  }
  return { earlier, window, hasShare: share !== undefined };
}

function takeWindowStage(scope: Scope, stages: StageReader): WindowStage | undefined {
  const rolling = stages.takeOne('rolling');
  const cumulative = stages.takeOne('cumulative');
  if (rolling && cumulative) report(scope, cumulative.span, 'cumulative does not go with rolling', APART);
  return rolling ?? cumulative;
}

function refuseWithEach(
  scope: Scope,
  written: readonly StageOf<WindowKind | 'share' | 'unit' | 'limit' | 'top'>[],
): void {
  for (const stage of written) {
    const isOther = stage.kind === 'top' && stage.withOther;
    if (stage.kind === 'limit' || (stage.kind === 'top' && !isOther)) continue;
    const word = isOther ? 'top … other' : stage.kind;
    report(scope, stage.span, `${word} does not go with an aggregate of an aggregate`, 'remove it');
  }
}

const APART = 'ask in two queries';

/** The columns beside the metric, and those of the plan. */
export const columnsBeside = (
  { earlier, hasShare }: MetricStages,
  groups: readonly Group[],
): Readonly<Record<string, string>> => ({
  ...(earlier && columnsOfEarlier(groups)),
  ...(hasShare && { share: 'share' }),
});

// ---- Windows ----

const DAY_MS = 86_400_000;
const DAYS_MAX = 3_660;

function resolveWindow(scope: Scope, stage: WindowStage, of: Aggregated): MetricWindow | undefined {
  checkWindowedGroups(scope, stage, of.groups);
  checkWindowedMeasure(scope, stage, of.measure);
  if (stage.kind === 'cumulative') return { kind: 'cumulative' };
  const { duration, span } = stage;
  const ms = resolveLength(scope, duration);
  if (ms === undefined) return undefined;
  const days = ms / DAY_MS;
  if (Number.isInteger(days) && days <= DAYS_MAX) return { kind: 'rolling', days };
  const message = `rolling ${duration.amount}${duration.unit} is not 1 to ${DAYS_MAX} whole days`;
  return report(scope, span, message, 'write rolling 28d');
}

function checkWindowedGroups(scope: Scope, { kind, span }: WindowStage, groups: readonly Group[]): void {
  const buckets = groups.flatMap((group) => (group.kind === 'bucket' ? [group.granularity] : []));
  const [bucket] = buckets;
  const isOfOtherTime = groups.some((group) => group.kind === 'bucket' && group.of);
  if (bucket !== undefined && buckets.length === 1 && !isOfOtherTime && !SHORT.includes(bucket) && !isRecurring(bucket))
    return;
  const given = buckets.length === 0 ? 'the query has none' : `by has ${buckets.join(', ')}`;
  report(
    scope,
    span,
    `${kind} needs one time bucket of a day or longer, and ${given}`,
    `write by day, as in unique by day | ${kind === 'rolling' ? 'rolling 28d' : kind}`,
  );
}

const SHORT: readonly string[] = ['minute', 'hour'];

function checkWindowedMeasure(scope: Scope, { kind, span }: WindowStage, measure: Measure | undefined): void {
  if (measure?.kind !== 'numeric' || measure.function === 'sum') return;
  const { function: name } = measure;
  const isExact = name === 'avg' || name === 'min' || name === 'max';
  if (kind === 'rolling' && isExact) return;
  report(
    scope,
    span,
    `${kind} does not fit ${name}`,
    kind === 'rolling'
      ? `it goes with count, unique, sum, avg, min and max; for longer buckets write ${name} … by month`
      : 'it goes with count, unique and sum; for the whole range leave out by',
  );
}

function checkShare(scope: Scope, { span }: StageOf<'share'>, { groups, measure }: Aggregated): void {
  if (!groups.some((group) => group.kind !== 'bucket')) {
    report(scope, span, 'share needs groups of a field, and by has none', 'write by _country, or another field');
  }
  if (measure?.kind !== 'numeric' || measure.function === 'sum') return;
  report(scope, span, `share does not fit ${measure.function}`, 'it goes with count, unique and sum');
}
