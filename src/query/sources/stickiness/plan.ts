// Plan of `stickiness`: active days per person.
import type { ResolvedQuery } from '../../analyze/resolved.js';
import { type PlanContext, selectEvents } from '../../people/scan.js';
import { planWithoutUnit } from '../../people/without-unit.js';
import { orderBy, passThrough, planAnswer } from '../../plan/answer.js';
import { subjectOf } from '../../plan/distinct.js';
import { column } from '../../plan/expressions.js';
import { fn } from '../../plan/functions.js';
import { type Plan, select, step } from '../../plan/plan.js';
import { bucketOf } from '../../time/buckets.js';
import type { StickinessQuery } from './analyze.js';

export function planStickiness(query: StickinessQuery & ResolvedQuery, context: PlanContext): Plan {
  const { selection, timezone, order, unit } = query;
  const subject = subjectOf(unit);
  const day = bucketOf(column('time'), { granularity: 'day', timezone });
  const people = selectEvents(context, {
    selection,
    columns: { person: subject.value, active_days: fn.uniqExact(day) },
    filter: [subject.isPresent],
    groupBy: ['person'],
  });
  return planAnswer({
    query,
    order,
    range: selection.range,
    context,
    mode: 'stickiness',
    ...(unit && { withoutUnit: planWithoutUnit(context, { unit, selection }) }),
    select: select({
      columns: { ...passThrough('active_days'), users: fn.count() },
      from: step('people', people),
      groupBy: ['active_days'],
      orderBy: [orderBy('active_days')],
    }),
    columns: [
      { name: 'active_days', type: 'number' },
      { name: 'users', type: 'number' },
    ],
  });
}
