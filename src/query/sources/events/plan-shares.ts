// Plan of `share`: groups are collected per time bucket beside the bucket's total, and unfolded
// with their part of it. Distinct values are kept as states of the aggregate, so that the total
// counts a value of several groups once, in the same scan.
import { groupAlias, METRIC } from '../../analyze/grouped-columns.js';
import { passThrough } from '../../plan/answer.js';
import { ratio } from '../../plan/behaviour.js';
import { distinctValue } from '../../plan/distinct.js';
import { alias, type Expression, tupleElement } from '../../plan/expressions.js';
import { fn } from '../../plan/functions.js';
import { type Select, select, step } from '../../plan/plan.js';
import type { AggregateQuery } from './group-order.js';

/** The metric of groups of which `addShares` makes shares. */
export function stateOfShare({ measure }: AggregateQuery, metric: Expression): Expression {
  if (measure.kind !== 'unique') return metric;
  const { value, isPresent } = distinctValue(measure.field);
  return isPresent ? fn.uniqExactStateIf(value, isPresent) : fn.uniqExactState(value);
}

/** `grouped` has the states as its metric. */
export function addShares({ groups, measure }: AggregateQuery, grouped: Select): Select {
  const isOfStates = measure.kind === 'unique';
  const names = groups.map((_, index) => groupAlias(index));
  const fields = names.filter((_, index) => groups[index]?.kind !== 'bucket');
  const buckets = names.filter((_, index) => groups[index]?.kind === 'bucket');
  const metric = alias(METRIC);
  const totals = select({
    columns: {
      ...passThrough(...buckets),
      in_bucket: fn.groupArray(fn.tuple(...fields.map(alias), isOfStates ? fn.finalizeAggregation(metric) : metric)),
      total: isOfStates ? fn.uniqExactMerge(metric) : fn.sum(metric),
    },
    from: step('states', grouped),
    groupBy: buckets,
  });
  const unfolded = select({
    columns: { ...passThrough(...buckets, 'total'), one: fn.arrayJoin(alias('in_bucket')) },
    from: step('totals', totals),
  });
  const columns = groups.map((_, index): [string, Expression] => {
    const name = groupAlias(index);
    return [name, fields.includes(name) ? tupleElement(alias('one'), fields.indexOf(name) + 1) : alias(name)];
  });
  return select({
    columns: {
      ...Object.fromEntries(columns),
      [METRIC]: tupleElement(alias('one'), fields.length + 1),
      share: ratio(alias(METRIC), alias('total')),
    },
    from: step('groups', unfolded),
  });
}
