// Which people of a lifecycle `people` lists: those of a status in the last whole period.
import type { AnswerOrder } from '../../analyze/answer-order.js';
import { refuseWho, takePeople, takePeopleOrder } from '../../analyze/people.js';
import type { CalendarPeriod, TimeRange } from '../../analyze/resolved.js';
import { report, type Scope } from '../../analyze/scope.js';
import type { StageReader } from '../../analyze/stage-reader.js';
import { findNearest, quote } from '../../errors.js';
import { listBuckets } from '../../time/bucket-list.js';

export const STATUSES = ['New', 'Returning', 'Resurrected', 'Dormant'] as const;
export type Status = (typeof STATUSES)[number];

export interface LifecyclePeople extends AnswerOrder {
  readonly status: Status;
  readonly period: TimeRange;
  /** The period before. */
  readonly before: TimeRange;
}

interface Periods {
  readonly range: TimeRange;
  readonly period: CalendarPeriod;
}

const NAMES = STATUSES.map((status) => status.toLowerCase());

export function takeLifecyclePeople(
  scope: Scope,
  stages: StageReader,
  { range, period: length }: Periods,
): LifecyclePeople | undefined {
  const stage = takePeople(scope, stages, ['by']);
  if (stage === undefined) return undefined;
  const order = takePeopleOrder(scope, stages);
  const { who } = stage;
  if (who.kind !== 'status') return refuseWho(scope, stage, `of a lifecycle write people ${NAMES.join(', people ')}`);
  const status = STATUSES[NAMES.indexOf(who.status.text.toLowerCase())];
  if (!status) {
    const nearest = findNearest(who.status.text.toLowerCase(), NAMES);
    const hint = nearest ? `nearest is "${nearest}"` : `it is ${NAMES.join(', ')}`;
    return report(scope, who.status.span, `unknown status ${quote(who.status.text)}`, hint, nearest);
  }
  const end = Math.min(range.toMs, scope.nowMs);
  const period = listBuckets(range, length, scope.timezone).findLast(({ toMs }) => toMs <= end);
  if (!period) {
    return report(
      scope,
      stage.span,
      `no ${length} of the range is over`,
      'people are of the last whole one: make the range longer',
    );
  }
  const [before] = listBuckets({ fromMs: period.fromMs - 1, toMs: period.fromMs }, length, scope.timezone);
  return before && { ...order, status, period, before };
}
