// The plans of the sources, by kind of resolved query.
import { assertNever } from '../../platform/errors.js';
import type { EventSelection, ResolvedQuery, Rows } from '../analyze/resolved.js';
import type { PlanContext } from '../people/scan.js';
import { sortKept } from '../plan/answer.js';
import type { Plan } from '../plan/plan.js';
import { planChoice } from './choice/plan.js';
import { planValues } from './choice/plan-values.js';
import { withCohorts } from './cohorts.js';
import { type AggregatedRows, planAggregate, planList } from './events/plan.js';
import { planEventPeople } from './events/plan-people.js';
import { planFields } from './fields/plan.js';
import { planFormula } from './formula/plan.js';
import { planFunnel } from './funnel/plan.js';
import { planInspect } from './inspect/plan.js';
import { latestRows, planLatestValues } from './latest/plan.js';
import { planLifecycle } from './lifecycle/plan.js';
import { planPaths } from './paths/plan.js';
import { planRetention } from './retention/plan.js';
import { planSessions, sessionRows } from './sessions/plan.js';
import { planStickiness } from './stickiness/plan.js';
import { planUserList, profileRows } from './users/plan.js';

type Kind = ResolvedQuery['kind'];
type QueryOf<K extends Kind> = Extract<ResolvedQuery, { readonly kind: K }>;

const PLANS: { readonly [K in Kind]: (query: QueryOf<K>, context: PlanContext) => Plan } = {
  aggregate: (query, context) => planAggregate(query, context, query.rows && rowsOver(query.rows, context)),
  list: (query, context) => (query.rows ? planUserList(query, context) : planList(query, context)),
  latest_values: planLatestValues,
  people: planEventPeople,
  funnel: planFunnel,
  retention: planRetention,
  paths: planPaths,
  sessions: planSessions,
  lifecycle: planLifecycle,
  stickiness: planStickiness,
  formula: planFormula,
  fields: planFields,
  inspect: planInspect,
  choice_results: (query, context) =>
    query.value ? planValues(query, query.value, context) : planChoice(query, context),
};

function planRows<K extends Kind>(query: QueryOf<K>, context: PlanContext): Plan {
  return PLANS[query.kind as K](query, context);
}

export function plan(resolved: ResolvedQuery, context: PlanContext): Plan {
  const query = resolved.hasCohorts ? withCohorts(resolved, context) : resolved;
  const { shownOrder, rowsMax } = { shownOrder: undefined, ...query };
  if (shownOrder === undefined || rowsMax === undefined) return planRows(query, context);
  return sortKept(planRows(query, { ...context, limit: rowsMax, offset: 0 }), { shownOrder, rowsMax, context });
}

const rowsOver =
  (rows: Rows, context: PlanContext) =>
  (selection: EventSelection): AggregatedRows => {
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
  };
