// Cohorts that a query groups by: their value in the plan, over the range of the query or that of
// `compare`.
import type { CohortField, EventSelection, TimeRange } from '../analyze/resolved.js';
import { conditionOver, overRange } from '../conditions/calls.js';
import { planCondition } from '../conditions/plan.js';
import type { PlanContext } from '../people/scan.js';
import { textValue } from '../plan/expressions.js';
import type { PlannedCohort } from '../plan/field-expressions.js';
import { fn } from '../plan/functions.js';

interface Grouped {
  readonly selection: EventSelection;
  readonly hasCohorts: boolean;
}

/** The query over another range, which is also that of the calls in its conditions and cohorts. */
export function queryOver<Query extends Grouped>(query: Query, range: TimeRange, context: PlanContext): Query {
  const over = { ...query, selection: overRange(query.selection, range) };
  return query.hasCohorts ? withCohorts(over, context, range) : over;
}

/** The query with the value of each cohort that it groups by; `range`: over another range. */
export function withCohorts<T>(node: T, context: PlanContext, range?: TimeRange): T {
  if (typeof node !== 'object' || node === null || node instanceof Set) return node;
  if (Array.isArray(node)) return node.map((item) => withCohorts(item, context, range)) as T;
  if (isCohort(node)) return planCohort(node, context, range) as T;
  const parts = Object.entries(node).map(([key, value]) => [key, withCohorts(value, context, range)]);
  return Object.fromEntries(parts) as T;
}

const isCohort = (node: object): node is CohortField => 'kind' in node && node.kind === 'cohort';

function planCohort(cohort: CohortField, { projectId }: PlanContext, range: TimeRange | undefined): PlannedCohort {
  const condition = range ? conditionOver(cohort.condition, range) : cohort.condition;
  const value = fn.if(planCondition(condition, projectId), textValue('true'), textValue('false'));
  return { ...cohort, condition, value };
}
