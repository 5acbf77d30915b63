// Chooses how a resolved query is asked.
import { assertNever } from '../../platform/errors.js';
import type { ResolvedQuery } from '../analyze/resolved.js';
import { type PlanContext, planAggregate, planList } from './events.js';
import { planFunnel } from './funnel.js';
import type { Plan } from './plan.js';

export function plan(query: ResolvedQuery, context: PlanContext): Plan {
  switch (query.kind) {
    case 'aggregate':
      return planAggregate(query, context);
    case 'list':
      return planList(query, context);
    case 'funnel':
      return planFunnel(query, context);
    default:
      return assertNever(query);
  }
}
