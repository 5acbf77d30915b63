// The columns of grouped rows, and their order.
import { groupAlias, METRIC } from '../../analyze/grouped-columns.js';
import type { AggregateOrder, Group, ResolvedQuery } from '../../analyze/resolved.js';
import type { Granularity } from '../../fields.js';
import { orderBy, orderByValue } from '../../plan/answer.js';
import type { OrderBy, OutputColumn, Select } from '../../plan/plan.js';
import { fillOf } from '../../time/buckets.js';

export type AggregateQuery = Extract<ResolvedQuery, { kind: 'aggregate' }>;

/**
 * The metric is always a sort key. Sorted by the time bucket alone, ClickHouse would skip the sort
 * after WITH FILL and omit filled rows from rows_before_limit.
 */
export function orderOfGroups(order: readonly AggregateOrder[], types: readonly OutputColumn['type'][]): OrderBy[] {
  const asked = order.flatMap((of) => {
    if (of.kind === 'metric') return [orderBy(METRIC, of.direction)];
    if (of.kind === 'column') return [orderBy(of.column, of.direction)];
    return orderByValue(groupAlias(of.index), types[of.index], of.direction);
  });
  return order.some((of) => of.kind === 'metric') ? asked : [...asked, orderBy(METRIC, 'desc')];
}

/** When time is the only group, the answer has every bucket of the range. */
export function filledGranularity(groups: readonly Group[]): Granularity | undefined {
  const [only] = groups;
  return groups.length === 1 && only?.kind === 'bucket' && !only.of ? only.granularity : undefined;
}

export function fillOfBuckets({ groups, selection, timezone }: AggregateQuery): Pick<Select, 'orderBy' | 'fill'> {
  const granularity = filledGranularity(groups);
  if (granularity === undefined) return {};
  return { orderBy: [orderBy(groupAlias(0))], fill: fillOf(selection.range, { granularity, timezone }) };
}
