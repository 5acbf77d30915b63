// Planner entry: dispatches a resolved query to the plan of its source.
import { assertNever } from '../../platform/errors.js';
import type { EventSelection, ResolvedQuery, Rows } from '../analyze/resolved.js';
import { planChoice } from '../sources/choice/plan.js';
import { type PlanContext, planAggregate, planList, type RowsOver } from '../sources/events/plan.js';
import { planFields } from '../sources/fields/plan.js';
import { planFormula } from '../sources/formula/plan.js';
import { planFunnel } from '../sources/funnel/plan.js';
import { planInspect } from '../sources/inspect/plan.js';
import { latestRows, planLatestValues } from '../sources/latest/plan.js';
import { planLifecycle } from '../sources/lifecycle/plan.js';
import { planPaths } from '../sources/paths/plan.js';
import { planRetention } from '../sources/retention/plan.js';
import { planSessions, sessionRows } from '../sources/sessions/plan.js';
import { planStickiness } from '../sources/stickiness/plan.js';
import { planUserList, profileRows } from '../sources/users/plan.js';
import type { Plan } from './plan.js';
import { sortKept } from './sort-kept.js';

export function plan(query: ResolvedQuery, context: PlanContext): Plan {
  const { shownOrder, rowsMax } = query;
  if (shownOrder === undefined || rowsMax === undefined) return planRows(query, context);
  return sortKept(planRows(query, { ...context, limit: rowsMax, offset: 0 }), { shownOrder, rowsMax, context });
}

function planRows(query: ResolvedQuery, context: PlanContext): Plan {
  switch (query.kind) {
    case 'aggregate':
      return planAggregate(query, context, query.rows && rowsOf(query.rows, query.selection, context));
    case 'sessions':
      return planSessions(query, context);
    case 'choice_results':
      return planChoice(query, context);
    case 'fields':
      return planFields(query, context);
    case 'inspect':
      return planInspect(query, context);
    case 'latest_values':
      return planLatestValues(query, context);
    case 'list':
      return query.rows?.kind === 'profiles' ? planUserList(query, context) : planList(query, context);
    case 'funnel':
      return planFunnel(query, context);
    case 'retention':
      return planRetention(query, context);
    case 'stickiness':
      return planStickiness(query, context);
    case 'lifecycle':
      return planLifecycle(query, context);
    case 'paths':
      return planPaths(query, context);
    case 'formula':
      return planFormula(query, context);
    default:
      return assertNever(query);
  }
}

function rowsOf(rows: Rows, selection: EventSelection, context: PlanContext): RowsOver {
  switch (rows.kind) {
    case 'latest':
      return latestRows(rows, selection, context);
    case 'profiles':
      return profileRows(selection, context);
    case 'sessions':
      return sessionRows(rows, selection, context);
    default:
      return assertNever(rows);
  }
}
