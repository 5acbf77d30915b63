// Plan of funnels: the attempts of people, which of them count, and the rows about those.
import type { TimeRange } from '../../analyze/resolved.js';
import type { PlanContext } from '../../people/scan.js';
import { planWithoutUnit } from '../../people/without-unit.js';
import { planAnswer } from '../../plan/answer.js';
import type { Plan } from '../../plan/plan.js';
import { dateOfPeriod } from '../../time/range.js';
import { queryOver } from '../cohorts.js';
import { type Counted, type Funnel, funnelOf, type ResolvedFunnel } from './funnel.js';
import { countInAnyOrder } from './plan-any-order.js';
import { planComparedSteps } from './plan-compared.js';
import { countInOrder } from './plan-in-order.js';
import { planFunnelPeople } from './plan-people.js';
import { planHistogram, planSteps, planTimes, type Rows } from './plan-rows.js';
import { countStrictly } from './plan-strict.js';

const COUNT = { written: countInOrder, any: countInAnyOrder, strict: countStrictly } as const;

function planRows(funnel: Funnel, context: PlanContext): Rows {
  const { times, earlier } = funnel.query;
  const counted = countOver(funnel, funnel.query.selection.range, context);
  if (earlier) {
    return planComparedSteps(funnel, {
      current: counted,
      earlier: countOver(funnel, earlier, context),
      range: earlier,
    });
  }
  if (times === undefined) return planSteps(funnel, counted);
  return times.widthMs === undefined ? planTimes(funnel, counted) : planHistogram(funnel, counted, times.widthMs);
}

/** The attempts that count of those in the range. */
function countOver(funnel: Funnel, range: TimeRange, context: PlanContext): Counted {
  const { query } = funnel;
  return COUNT[query.order](funnelOf(queryOver(query, range, context)), context);
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
  if (query.people) {
    const counted = countOver(funnel, selection.range, context);
    return planFunnelPeople(query, query.people, { counted, context });
  }
  const { select, columns } = planRows(funnel, context);
  const from = incompleteFrom(query, context.nowMs);
  return planAnswer({
    query,
    range: selection.range,
    context,
    mode: 'funnel',
    select,
    columns,
    ...(unit && { withoutUnit: planWithoutUnit(context, { unit, selection, sets: query.steps }) }),
    metadata: {
      funnel_steps: query.steps.map(({ name }) => name),
      window_seconds: query.windowMs / 1000,
      ...(from && { incomplete_from: from }),
    },
  });
}
