// Plan of `people` over events: who did them, with the time of the last one.
import type { ResolvedQuery } from '../../analyze/resolved.js';
import { personColumns, planPeopleList } from '../../people/list-people.js';
import { type PlanContext, selectEvents } from '../../people/scan.js';
import { hasIdentity } from '../../plan/behaviour.js';
import { column } from '../../plan/expressions.js';
import { fn } from '../../plan/functions.js';
import type { Plan } from '../../plan/plan.js';

type EventPeopleQuery = Extract<ResolvedQuery, { kind: 'people' }>;

export function planEventPeople(query: EventPeopleQuery, context: PlanContext): Plan {
  const { selection, order } = query;
  const people = selectEvents(context, {
    selection,
    columns: { ...personColumns, decided_at: fn.max(column('time')) },
    filter: [hasIdentity],
    groupBy: ['person'],
  });
  return planPeopleList(context, { query, range: selection.range, order, people });
}
