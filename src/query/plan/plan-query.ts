// Chooses how a resolved query is asked.
import { assertNever } from '../../platform/errors.js';
import type { EventSelection, ResolvedQuery, Rows } from '../analyze/resolved.js';
import { type PlanContext, planAggregate, planList, type RowsOver } from './events.js';
import { planFunnel } from './funnel.js';
import { latestRows, planLatestValues } from './latest.js';
import type { Plan } from './plan.js';

export function plan(query: ResolvedQuery, context: PlanContext): Plan {
  switch (query.kind) {
    case 'aggregate':
      return planAggregate(query, context, query.rows && rowsOf(query.rows, query.selection, context));
    case 'latest_values':
      return planLatestValues(query, context);
    case 'list':
      return planList(query, context);
    case 'funnel':
      return planFunnel(query, context);
    default:
      return assertNever(query);
  }
}

function rowsOf(rows: Rows, selection: EventSelection, context: PlanContext): RowsOver {
  switch (rows.kind) {
    case 'latest':
      return latestRows(rows, selection, context);
    case 'sessions':
    case 'profiles':
      throw new Error('not yet');
    default:
      return assertNever(rows);
  }
}
