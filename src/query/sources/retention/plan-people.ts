// Plan of `people` over a retention: who came back in a period, with the time of the first return
// in it.

import type { ResolvedQuery } from '../../analyze/resolved.js';
import { planPeopleList, toPerson } from '../../people/list-people.js';
import type { PlanContext } from '../../people/scan.js';
import { alias, allOf, type Expression, equals, infix, integer, lambda, textValue } from '../../plan/expressions.js';
import { fn } from '../../plan/functions.js';
import { extend, type Plan, type Step, select, step } from '../../plan/plan.js';
import type { RetentionPeople } from './people.js';
import { type Periods, positionOf } from './plan-returns.js';

interface Listed {
  readonly query: Periods['query'] & ResolvedQuery;
  readonly calendar: Periods['calendar'];
  readonly people: RetentionPeople;
  /** One row per person, with the times of the returns as `later`, and their `periods`. */
  readonly returns: Step;
}

export function planRetentionPeople({ query, calendar, people, returns }: Listed, context: PlanContext): Plan {
  const position = positionOf(query, integer(people.period));
  const isIn = lambda(['return', 'period'], (_, period) =>
    query.isUnbounded ? infix('>=', period, position) : equals(period, position),
  );
  const own = fn.arrayFilter(isIn, alias('later'), alias('periods'));
  const matched = step('returns_in_the_period', extend(returns, { own_returns: own }));
  const ofCohort: Expression[] =
    people.cohortMs === undefined ? [] : [equals(alias('cohort'), calendar.numberAt(people.cohortMs))];
  const rows = select({
    columns: toPerson(fn.fromUnixTimestamp64Milli(fn.arrayMin(alias('own_returns')), textValue('UTC'))),
    from: matched,
    where: allOf([fn.notEmpty(alias('own_returns')), ...ofCohort]),
  });
  return planPeopleList(context, { query, range: query.selection.range, order: people.order, people: rows });
}
