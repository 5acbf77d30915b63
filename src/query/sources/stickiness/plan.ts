// Plan of `stickiness`: active days per person.
import type { ResolvedQuery } from '../../analyze/resolved.js';
import { type PlanContext, selectEvents } from '../../people/scan.js';
import { planWithoutUnit } from '../../people/without-unit.js';
import { orderBy, passThrough, planAnswer } from '../../plan/answer.js';
import { BREAKDOWN, planBreakdown } from '../../plan/behaviour.js';
import { subjectOf } from '../../plan/distinct.js';
import { column } from '../../plan/expressions.js';
import { fn } from '../../plan/functions.js';
import { type Plan, select, step } from '../../plan/plan.js';
import { bucketOf } from '../../time/buckets.js';
import type { StickinessQuery } from './analyze.js';

export function planStickiness(query: StickinessQuery & ResolvedQuery, context: PlanContext): Plan {
  const { selection, timezone, order, unit, by } = query;
  const breakdown = by && planBreakdown(by);
  const groups = breakdown ? [BREAKDOWN] : [];
  const subject = subjectOf(unit);
  const day = bucketOf(column('time'), { granularity: 'day', timezone });
  const people = selectEvents(context, {
    selection,
    columns: {
      person: subject.value,
      ...(breakdown && { [BREAKDOWN]: breakdown.value }),
      active_days: fn.uniqExact(day),
    },
    filter: [subject.isPresent],
    groupBy: ['person', ...groups],
  });
  return planAnswer({
    query,
    order,
    range: selection.range,
    context,
    mode: 'stickiness',
    ...(unit && { withoutUnit: planWithoutUnit(context, { unit, selection }) }),
    select: select({
      columns: { ...passThrough(...groups, 'active_days'), users: fn.count() },
      from: step('people', people),
      groupBy: [...groups, 'active_days'],
      orderBy: [...(breakdown?.order ?? []), orderBy('active_days')],
    }),
    columns: [
      ...(breakdown ? [breakdown.output] : []),
      { name: 'active_days', type: 'number' },
      { name: 'users', type: 'number' },
    ],
  });
}
