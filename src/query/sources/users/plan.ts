// Plans of the source `users`.
import type { EventSelection, ResolvedQuery } from '../../analyze/resolved.js';
import { planCondition } from '../../conditions/plan.js';
import { profilePropertiesIn } from '../../people/joins.js';
import { selectProfiles } from '../../people/profile-select.js';
import { column, infix, instantParameter } from '../../plan/expressions.js';
import type { Expression, OrderBy, Plan, Select } from '../../plan/plan.js';
import { listOrder, type PlanContext, pageOf, planListColumn, type RowsOver } from '../events/plan.js';

type ListQuery = Extract<ResolvedQuery, { kind: 'list' }>;

interface SeenProfiles {
  readonly selection: EventSelection;
  readonly context: PlanContext;
  /** Expressions over profiles. */
  readonly reads: readonly Expression[];
}

function selectSeen({ selection, context, reads }: SeenProfiles): Select {
  const { range, condition } = selection;
  const { projectId } = context;
  const filter = [
    infix('>=', column('last_seen'), instantParameter(range.fromMs)),
    infix('<', column('last_seen'), instantParameter(range.toMs)),
    ...(condition ? [planCondition(condition, projectId)] : []),
  ];
  return selectProfiles(projectId, { properties: profilePropertiesIn([...reads, ...filter]), filter });
}

export const profileRows = (selection: EventSelection, context: PlanContext): RowsOver => ({
  time: column('profile_last_seen'),
  from: (reads) => selectSeen({ selection, context, reads }),
});

export function planUserList(query: ListQuery, context: PlanContext): Plan {
  const columns = query.columns.map(planListColumn);
  const orderBy: OrderBy[] = [
    ...query.order.flatMap(listOrder),
    { expression: column('profile_user_id'), direction: 'asc' },
  ];
  const reads = [...columns.map((of) => of.column), ...orderBy].map((of) => of.expression);
  const page = pageOf(context, query.rowsMax);
  return {
    mode: 'users',
    select: {
      kind: 'select',
      columns: columns.map((of) => of.column),
      from: selectSeen({ selection: query.selection, context, reads }),
      orderBy,
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
