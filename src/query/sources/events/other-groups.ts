// Plan of `top 5 other`: numbers the groups in the order of `top`, and aggregates those behind the
// first once more. Where numbers do not add up, as those of unique values, the groups have states,
// so that the rest is exact too.

import { groupAlias, METRIC } from '../../analyze/grouped-columns.js';
import { OTHER } from '../../analyze/other-groups.js';
import type { Measure } from '../../analyze/resolved.js';
import { orderBy } from '../../plan/answer.js';
import { alias, type Expression, infix, integer, rowNumber, textValue } from '../../plan/expressions.js';
import { fn, merge, stateOf } from '../../plan/functions.js';
import { type Columns, type ColumnType, extend, type Select, select, step } from '../../plan/plan.js';
import { type AggregateQuery, orderOfGroups } from './group-order.js';

const STATE = 'state';
const POSITION = 'position';
const IS_OTHER = 'is_other';
const TOTAL = 'total';
const shownAlias = (index: number): string => `shown_${index + 1}`;

const ADDED_UP = { count: fn.sum, sum: fn.sum, min: fn.min, max: fn.max } as const;

/** How the metrics of several groups become one; undefined when their numbers do not tell. */
function addUp(measure: Measure): ((values: Expression) => Expression) | undefined {
  const name = measure.kind === 'numeric' ? measure.function : measure.kind;
  return Object.hasOwn(ADDED_UP, name) ? ADDED_UP[name as keyof typeof ADDED_UP] : undefined;
}

/** The column of the metric; of its state, when the metrics do not add up. */
export function mergeable(measure: Measure, metric: Expression): Columns {
  if (addUp(measure)) return { [METRIC]: metric };
  if (metric.kind !== 'call') throw new Error('the metric is no call of an aggregate function');
  return { [STATE]: stateOf(metric) };
}

interface Asked extends Pick<AggregateQuery, 'measure' | 'order'> {
  readonly other: NonNullable<AggregateQuery['other']>;
  readonly types: readonly ColumnType[];
}

/** `grouped` has the groups with a mergeable metric. */
export function sumUpOthers(grouped: Select, { other, measure, order, types }: Asked): Select {
  const isFirst = infix('<=', alias(POSITION), integer(other.rows));
  const shown: Columns = Object.fromEntries(
    types.map((_, index) => {
      const value = alias(groupAlias(index));
      return [shownAlias(index), index === other.kept ? value : fn.if(isFirst, value, textValue(OTHER))];
    }),
  );
  const state = grouped.columns[STATE];
  const total = state?.kind === 'call' ? merge(state, alias(STATE)) : addUp(measure)?.(alias(METRIC));
  if (total === undefined) throw new Error('the metric has neither numbers nor states');
  const summed = select({
    columns: { [IS_OTHER]: fn.not(isFirst), ...shown, [TOTAL]: total },
    from: step(
      'numbered_groups',
      extend(step('groups', grouped), {
        ...(state && { [METRIC]: fn.finalizeAggregation(alias(STATE)) }),
        [POSITION]: rowNumber(orderOfGroups(other.order, types)),
      }),
    ),
    groupBy: [IS_OTHER, ...Object.keys(shown)],
  });
  const groups: Columns = Object.fromEntries(types.map((_, index) => [groupAlias(index), alias(shownAlias(index))]));
  return select({
    columns: { ...groups, [METRIC]: alias(TOTAL) },
    from: step('first_and_other_groups', summed),
    orderBy: [orderBy(IS_OTHER), ...orderOfGroups(order, types)],
  });
}
