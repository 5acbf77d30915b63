// Plans over profiles.
import type { EventSelection, ResolvedQuery } from '../analyze/resolved.js';
import { planCondition } from './condition.js';
import { listOrder, type PlanContext, pageOf, planListColumn, type RowsOver } from './events.js';
import { column, infix, instantParameter } from './expressions.js';
import type { Plan, Select } from './plan.js';
import { selectProfiles } from './profile-select.js';

type ListQuery = Extract<ResolvedQuery, { kind: 'list' }>;

function selectSeen({ range, condition }: EventSelection, { projectId }: PlanContext): Select {
  return selectProfiles(projectId, [
    infix('>=', column('last_seen'), instantParameter(range.fromMs)),
    infix('<', column('last_seen'), instantParameter(range.toMs)),
    ...(condition ? [planCondition(condition, projectId)] : []),
  ]);
}

export const profileRows = (selection: EventSelection, context: PlanContext): RowsOver => ({
  time: column('profile_last_seen'),
  from: () => selectSeen(selection, context),
});

export function planUserList(query: ListQuery, context: PlanContext): Plan {
  const columns = query.columns.map(planListColumn);
  const page = pageOf(context, query.rowsMax);
  return {
    mode: 'users',
    select: {
      kind: 'select',
      columns: columns.map((of) => of.column),
      from: selectSeen(query.selection, context),
      orderBy: [...query.order.flatMap(listOrder), { expression: column('profile_user_id'), direction: 'asc' }],
      limit: page.limit,
      offset: page.offset,
    },
    columns: columns.map((of) => of.output),
    metric: undefined,
    total: { kind: 'engine', rowsMax: query.rowsMax },
    rowsKept: page.kept,
    range: query.selection.range,
    timezone: query.timezone,
    warnings: query.warnings,
  };
}
