// Plans of the source `users`.
import type { EventSelection, ResolvedQuery } from '../../analyze/resolved.js';
import { planCondition } from '../../conditions/plan.js';
import { callsIn } from '../../people/behaviour.js';
import { profilePropertiesIn } from '../../people/joins.js';
import { selectProfiles } from '../../people/profile-select.js';
import { joinBehaviour, type PlanContext } from '../../people/scan.js';
import { orderBy, planAnswer } from '../../plan/answer.js';
import { column, type Expression, infix, instant } from '../../plan/expressions.js';
import { type Plan, type Step, select, step } from '../../plan/plan.js';
import { type AggregatedRows, listOrder, planListColumns } from '../events/plan.js';

type ListQuery = Extract<ResolvedQuery, { kind: 'list' }>;

/** Profiles of the selection; `reads` are expressions over them. */
function planSeen(selection: EventSelection, context: PlanContext, reads: readonly Expression[]): Step {
  const { projectId } = context;
  const { range, condition } = selection;
  const filter = [
    infix('>=', column('last_seen'), instant(range.fromMs)),
    infix('<', column('last_seen'), instant(range.toMs)),
    ...(condition ? [planCondition(condition, projectId)] : []),
  ];
  const read = [...reads, ...filter];
  const properties = profilePropertiesIn(read);
  const calls = callsIn(reads);
  return step(
    'seen_profiles',
    selectProfiles(projectId, { properties, filter, calls, joins: joinBehaviour(context, read) }),
  );
}

export const profileRows = (selection: EventSelection, context: PlanContext): AggregatedRows => ({
  time: column('profile_last_seen'),
  from: (reads) => planSeen(selection, context, reads),
});

export function planUserList(query: ListQuery, context: PlanContext): Plan {
  const { selection } = query;
  const { selected, outputs } = planListColumns(query.columns);
  const order = [...query.order.flatMap(listOrder), orderBy(column('profile_user_id'))];
  const reads = [...Object.values(selected), ...order.map(({ expression }) => expression)];
  return planAnswer({
    query,
    range: selection.range,
    context,
    mode: 'users',
    select: select({ columns: selected, from: planSeen(selection, context, reads), orderBy: order }),
    columns: outputs,
  });
}
