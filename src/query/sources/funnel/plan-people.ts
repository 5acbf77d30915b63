// Plan of `people` over a funnel: people whose counted attempt has the step, with its time.
import { planPeopleList, toPerson } from '../../people/list-people.js';
import type { PlanContext } from '../../people/scan.js';
import { alias, element, infix, integer, textValue } from '../../plan/expressions.js';
import { fn } from '../../plan/functions.js';
import { type Plan, select } from '../../plan/plan.js';
import type { Counted, ResolvedFunnel } from './funnel.js';
import type { FunnelPeople } from './people.js';

export function planFunnelPeople(
  query: ResolvedFunnel,
  { step, areLost, order }: FunnelPeople,
  { counted, context }: { readonly counted: Counted; readonly context: PlanContext },
): Plan {
  const reached = fn.length(alias('times'));
  const time = counted.msOf(element(alias('times'), integer(step)));
  const people = select({
    columns: toPerson(fn.fromUnixTimestamp64Milli(time, textValue('UTC'))),
    from: counted.from,
    where: infix(areLost ? '=' : '>=', reached, integer(step)),
  });
  return planPeopleList(context, { query, range: query.selection.range, order, people });
}
