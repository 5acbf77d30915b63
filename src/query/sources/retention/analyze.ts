// Analyzer of the source `retention`.

import { resolveAnswerOrder } from '../../analyze/answer-order.js';
import { resolveBehaviour, resolveBy } from '../../analyze/behaviour.js';
import type { CalendarPeriod, ResolvedQuery } from '../../analyze/resolved.js';
import type { Scope } from '../../analyze/scope.js';
import { isKind, onlyStage } from '../../analyze/stages.js';
import { resolveEvents } from '../../conditions/events.js';
import type { Source, Stage } from '../../parse/syntax.js';
import { lastDays, type TimeStage } from '../../time/range.js';

type RetentionSource = Extract<Source, { kind: 'retention' }>;

export const PERIODS: readonly CalendarPeriod[] = ['day', 'week', 'month'];
export const isPeriod = (word: string | undefined): word is CalendarPeriod => PERIODS.some((period) => period === word);

const DEFAULT_DAYS = 12 * 7;
const COLUMNS = ['cohort', 'cohort_size', 'period', 'users', 'rate'];

/** In retention, `m` means months, because periods are days, weeks or months. */
function readMonths(stage: TimeStage): TimeStage {
  if (stage.kind !== 'last' || stage.duration.unit !== 'm') return stage;
  return { ...stage, duration: { ...stage.duration, unit: 'mo' } };
}

export function analyzeRetention(
  scope: Scope,
  source: RetentionSource,
  stages: readonly Stage[],
): ResolvedQuery | undefined {
  const behaviour = resolveBehaviour(scope, {
    source: 'retention',
    stages,
    fits: ['returning', 'by', 'sort'],
    answers: 'answers users and rates of each cohort and period',
    fallback: lastDays(scope.nowMs, DEFAULT_DAYS),
    readTime: readMonths,
  });
  const patterns: Stage[] = source.returning
    ? [{ kind: 'returning', event: source.returning, span: source.returning.span }]
    : [];
  const returning = onlyStage(scope, [...patterns, ...stages], {
    matches: isKind('returning'),
    what: 'returning',
    hint: 'remove one of them',
  })?.event;
  const start = resolveEvents(scope, source.start);
  const by = resolveBy(scope, stages, { source: 'retention', granularities: PERIODS, takesField: true });
  if (start === undefined) return undefined;
  return {
    kind: 'retention',
    selection: { eventTypes: undefined, range: behaviour.range, condition: behaviour.condition },
    start,
    returning: returning?.matches.some(({ name }) => name === undefined)
      ? undefined
      : returning && resolveEvents(scope, returning),
    period: isPeriod(by.granularity) ? by.granularity : 'week',
    by: by.breakdown,
    ...resolveAnswerOrder(scope, stages, {
      columns: [...(by.breakdown ? [by.breakdown.name] : []), ...COLUMNS],
      ascending: [...(by.breakdown ? [by.breakdown.name] : []), 'period'],
      metric: undefined,
    }),
    rowsMax: behaviour.rowsMax,
    timezone: scope.timezone,
    warnings: scope.warnings,
  };
}
