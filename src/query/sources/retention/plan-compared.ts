// Plan of `compare` over a retention: cohorts of both ranges are matched by their position, and
// their rows by period.
import type { TimeRange } from '../../analyze/resolved.js';
import { ratio } from '../../plan/behaviour.js';
import { earlierOf, joinRanges, type Position, withChange } from '../../plan/compared.js';
import { alias, constant, type Expression, element, infix, NULL } from '../../plan/expressions.js';
import { fn } from '../../plan/functions.js';
import type { Columns, Select } from '../../plan/plan.js';
import { type Calendar, periodsSince } from '../../time/calendar.js';
import type { Periods } from './plan-returns.js';

const COHORT = 'cohort';

interface EarlierCohorts {
  readonly range: TimeRange;
  readonly position: Position;
}

export interface ComparedCohorts {
  readonly cohorts: Select;
  readonly earlier: EarlierCohorts | undefined;
}

interface Sides {
  readonly cohorts: Select;
  readonly earlier: Select;
  /** The earlier range. */
  readonly range: TimeRange;
  readonly groups: readonly string[];
}

export function joinCohorts({ query, calendar }: Periods, { cohorts, earlier, range, groups }: Sides): ComparedCohorts {
  const current = query.selection.range;
  const { numberAt } = calendar;
  const distance = infix('-', numberAt(current.fromMs), numberAt(range.fromMs));
  const lastOf = ({ fromMs, toMs }: TimeRange): Expression => numberAt(Math.max(fromMs, toMs - 1));
  const position: Position = {
    bucket: COHORT,
    fromEarlier: (cohort) => infix('+', cohort, distance),
    toEarlier: (cohort) => infix('-', cohort, distance),
    last: lastOf(current),
    lastEarlier: lastOf(range),
  };
  const values = { size: 'zero', returned: 'zero' } as const;
  const joined = joinRanges({ current: cohorts, earlier, keys: [...groups, COHORT], position, values });
  return { cohorts: joined, earlier: { range, position } };
}

/** With the metrics of the earlier range, which are null where it does not reach the period. */
export function withEarlier(
  { cohort_size, period, users, rate }: Readonly<Record<'cohort_size' | 'period' | 'users' | 'rate', Expression>>,
  calendar: Calendar,
  { range, position }: EarlierCohorts,
): Columns {
  const cohort = position.toEarlier(alias(COHORT));
  const isReached = infix('<=', infix('+', cohort, alias('period')), position.lastEarlier);
  const whenReached = (value: Expression): Expression => fn.if(isReached, value, NULL);
  const returned = element(alias(earlierOf('returned')), infix('+', alias('period'), constant(1)));
  return {
    previous_cohort: whenReached(calendar.dateAfter(range.fromMs, periodsSince(calendar, range.fromMs, cohort))),
    ...withChange('cohort_size', cohort_size, whenReached(alias(earlierOf('size')))),
    period,
    ...withChange('users', users, whenReached(returned)),
    ...withChange('rate', rate, ratio(alias('previous_users'), alias('previous_cohort_size'))),
  };
}
