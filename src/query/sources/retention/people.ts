// Which people of a retention `people` lists: those who came back in a period, of all cohorts or of
// one.

import type { AnswerOrder } from '../../analyze/answer-order.js';
import type { By } from '../../analyze/by.js';
import { refuseWho, resolveNumber, takePeople, takePeopleOrder } from '../../analyze/people.js';
import type { CalendarPeriod, TimeRange } from '../../analyze/resolved.js';
import { report, type Scope } from '../../analyze/scope.js';
import type { StageReader } from '../../analyze/stage-reader.js';
import type { Text } from '../../parse/syntax.js';
import { listBuckets } from '../../time/bucket-list.js';
import { MOMENT_FORM, tryParseMoment } from '../../time/moment.js';
import { dateOfPeriod } from '../../time/range.js';

export interface RetentionPeople extends AnswerOrder {
  readonly period: number;
  /** An instant of the cohort; undefined: all cohorts. */
  readonly cohortMs: number | undefined;
}

/** The last period of an answer. */
const PERIOD_MAX = 12;

interface Periods {
  readonly range: TimeRange;
  readonly period: CalendarPeriod;
  /** Length of the periods of each person; undefined for those of the calendar. */
  readonly windowMs: number | undefined;
  readonly by: By;
}

export function takeRetentionPeople(scope: Scope, stages: StageReader, of: Periods): RetentionPeople | undefined {
  const stage = takePeople(scope, stages, ['by']);
  if (stage === undefined) return undefined;
  const { who } = stage;
  refuseField(scope, of.by);
  const order = takePeopleOrder(scope, stages);
  if (who.kind !== 'at') {
    return refuseWho(scope, stage, 'of a retention write people at 3, or people at 3 of 2026-11-02');
  }
  const cohort = who.cohort && findCohort(scope, who.cohort, of);
  if (who.cohort && !cohort) return undefined;
  const last = Math.min(PERIOD_MAX, lastPeriod(of, scope.timezone, cohort));
  const period = resolveNumber(scope, { number: who.number, first: 0, last, what: 'period' });
  return period === undefined ? undefined : { ...order, period, cohortMs: cohort?.fromMs };
}

/** A person is in one group of a field, so the list would be the same. */
function refuseField(scope: Scope, { keys, breakdown }: By): void {
  const key = keys.find((of) => of.kind === 'name' && of.name.written === breakdown?.name);
  if (key?.kind !== 'name') return;
  const hint = `where keeps the people of one group: where ${key.name.written} = "…"`;
  report(scope, key.name.span, `by ${key.name.written} does not go with people`, hint);
}

function findCohort(scope: Scope, { text, span }: Text, { range, period }: Periods): TimeRange | undefined {
  const ms = tryParseMoment(text, scope.timezone);
  if (ms === undefined) return report(scope, span, `${text} is not a time`, MOMENT_FORM);
  const cohorts = listBuckets(range, period, scope.timezone);
  const cohort = cohorts.find(({ fromMs, toMs }) => ms >= fromMs && ms < toMs);
  if (cohort?.fromMs === ms) return cohort;
  const dateOf = (of: TimeRange | undefined): string =>
    dateOfPeriod(of?.fromMs ?? range.fromMs, period, scope.timezone);
  const hint = cohort
    ? `the cohort with this time begins on ${dateOf(cohort)}`
    : `cohorts begin from ${dateOf(cohorts[0])} to ${dateOf(cohorts.at(-1))}`;
  return report(scope, span, `no cohort begins on ${text}`, hint, cohort && dateOf(cohort));
}

/** The last period that the range reaches, for the members of the cohort that started first. */
function lastPeriod({ range, period, windowMs }: Periods, timezone: string, cohort: TimeRange | undefined): number {
  const fromMs = Math.max(range.fromMs, cohort?.fromMs ?? range.fromMs);
  if (windowMs !== undefined) return Math.floor((range.toMs - 1 - fromMs) / windowMs);
  return listBuckets({ fromMs, toMs: range.toMs }, period, timezone).length - 1;
}
