// The columns of grouped rows, and their order.
import { groupAlias, METRIC } from '../../analyze/grouped-columns.js';
import type { AggregateOrder, ResolvedQuery } from '../../analyze/resolved.js';
import { orderBy, orderByValue } from '../../plan/answer.js';
import { fillBuckets } from '../../plan/fill.js';
import type { OrderBy, OutputColumn, Select } from '../../plan/plan.js';

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

type Grouped = Pick<AggregateQuery, 'groups' | 'selection' | 'timezone'>;

/** The rows, with every bucket of the range when time is the only group; else they are the same. */
export function fillGroups({ groups, selection, timezone }: Grouped, rows: Select): Select {
  const [only] = groups;
  if (groups.length !== 1 || only?.kind !== 'bucket' || only.of) return rows;
  const { granularity } = only;
  return fillBuckets(rows, groupAlias(0), { range: selection.range, granularity, timezone });
}
