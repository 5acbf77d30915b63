// Plan of funnels: the attempts of people, which of them count, and the rows about those.
import type { PlanContext } from '../../people/scan.js';
import { planWithoutUnit } from '../../people/without-unit.js';
import { planAnswer } from '../../plan/answer.js';
import type { Plan } from '../../plan/plan.js';
import { dateOfPeriod } from '../../time/range.js';
import { type Counted, type Funnel, funnelOf, type ResolvedFunnel } from './funnel.js';
import { countInAnyOrder } from './plan-any-order.js';
import { countInOrder } from './plan-in-order.js';
import { planFunnelPeople } from './plan-people.js';
import { planHistogram, planSteps, planTimes, type Rows } from './plan-rows.js';
import { countStrictly } from './plan-strict.js';

const COUNT = { written: countInOrder, any: countInAnyOrder, strict: countStrictly } as const;

function planRows(funnel: Funnel, counted: Counted): Rows {
  const { times } = funnel.query;
  if (times === undefined) return planSteps(funnel, counted);
  return times.widthMs === undefined ? planTimes(funnel, counted) : planHistogram(funnel, counted, times.widthMs);
}

/** The first bucket with attempts whose window ends after the range, or is not over now. */
function incompleteFrom(
  { granularity, selection, windowMs, timezone }: ResolvedFunnel,
  nowMs: number,
): string | undefined {
  if (granularity === undefined) return undefined;
  const { fromMs, toMs } = selection.range;
  return dateOfPeriod(Math.max(fromMs, Math.min(toMs, nowMs) - windowMs), granularity, timezone);
}

export function planFunnel(query: ResolvedFunnel, context: PlanContext): Plan {
  const { unit, selection } = query;
  const funnel = funnelOf(query);
  const counted = COUNT[query.order](funnel, context);
  if (query.people) return planFunnelPeople(query, query.people, { counted, context });
  const { select, columns } = planRows(funnel, counted);
  const from = incompleteFrom(query, context.nowMs);
  return planAnswer({
    query,
    range: selection.range,
    context,
    mode: 'funnel',
    select,
    columns,
    ...(unit && { withoutUnit: planWithoutUnit(context, { unit, selection, sets: query.steps }) }),
    metadata: { funnel_steps: query.steps.map(({ name }) => name), ...(from && { incomplete_from: from }) },
  });
}
