// Plan of `stickiness`: active days per person.
import type { ResolvedQuery } from '../../analyze/resolved.js';
import { hasIdentity, passThrough, planAnswer } from '../../plan/behaviour.js';
import { alias, call, column } from '../../plan/expressions.js';
import { actor } from '../../plan/field-expressions.js';
import type { Plan, Select, SelectColumn } from '../../plan/plan.js';
import { bucketOf } from '../../time/buckets.js';
import { type PlanContext, scanEvents } from '../events/plan.js';
import type { StickinessQuery } from './analyze.js';

export function planStickiness(query: StickinessQuery & ResolvedQuery, context: PlanContext): Plan {
  const day = bucketOf(column('time'), { granularity: 'day', timezone: query.timezone });
  const columns: SelectColumn[] = [
    { alias: 'person', expression: actor },
    { alias: 'active_days', expression: call('uniqExact', day) },
  ];
  const reads = columns.map((of) => of.expression);
  const people: Select = {
    kind: 'select',
    columns,
    from: scanEvents(context, { selection: query.selection, reads, filter: [hasIdentity] }),
    groupBy: ['person'],
  };
  return planAnswer({
    query,
    order: query.order,
    range: query.selection.range,
    context,
    mode: 'stickiness',
    select: {
      kind: 'select',
      columns: [...passThrough('active_days'), { alias: 'users', expression: call('count') }],
      from: people,
      groupBy: ['active_days'],
      orderBy: [{ expression: alias('active_days'), direction: 'asc' }],
    },
    columns: [
      { name: 'active_days', type: 'number' },
      { name: 'users', type: 'number' },
    ],
  });
}
