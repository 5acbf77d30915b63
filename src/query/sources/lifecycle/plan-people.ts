// Plan of `people` over a lifecycle: who has the status in the period, from the events of a person
// before it, in the period before, and in it.
import type { ResolvedQuery } from '../../analyze/resolved.js';
import { personColumns, planPeopleList } from '../../people/list-people.js';
import { type PlanContext, selectEvents } from '../../people/scan.js';
import { hasIdentity } from '../../plan/behaviour.js';
import { allOf, column, constant, type Expression, equals, infix, instant } from '../../plan/expressions.js';
import { fn } from '../../plan/functions.js';
import type { Plan } from '../../plan/plan.js';
import { dateOfPeriod } from '../../time/range.js';
import type { LifecycleQuery } from './analyze.js';
import type { LifecyclePeople } from './people.js';

export function planLifecyclePeople(
  query: LifecycleQuery & ResolvedQuery,
  { status, period, before, order }: LifecyclePeople,
  context: PlanContext,
): Plan {
  const { selection, timezone } = query;
  const time = column('time');
  const isIn: Expression = infix('>=', time, instant(period.fromMs));
  const isBefore = infix('<', time, instant(period.fromMs));
  const isInLast = allOf([infix('>=', time, instant(before.fromMs)), isBefore]);
  const some = (when: Expression): Expression => infix('>', fn.countIf(when), constant(0));
  const none = (when: Expression): Expression => equals(fn.countIf(when), constant(0));
  const having = {
    New: [none(isBefore)],
    Returning: [some(isInLast), some(isIn)],
    Resurrected: [some(isIn), none(isInLast), some(isBefore)],
    Dormant: [some(isInLast), none(isIn)],
  }[status];
  const people = selectEvents(context, {
    // `New` depends on all earlier events.
    selection: { ...selection, range: { fromMs: 0, toMs: period.toMs } },
    columns: {
      ...personColumns,
      decided_at: status === 'Dormant' ? fn.maxIf(time, isInLast) : fn.minIf(time, isIn),
    },
    filter: [hasIdentity],
    groupBy: ['person'],
    having: allOf(having),
  });
  const metadata = { people_of: dateOfPeriod(period.fromMs, query.period, timezone) };
  return planPeopleList(context, { query, range: selection.range, order, people, metadata });
}
