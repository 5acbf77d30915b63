// The columns of grouped rows, and their order.
import { groupAlias, METRIC } from '../../analyze/grouped-columns.js';
import type { AggregateOrder } from '../../analyze/resolved.js';
import { orderBy, orderByValue } from '../../plan/answer.js';
import type { OrderBy, OutputColumn } from '../../plan/plan.js';

/**
 * The metric is always a sort key. Sorted by the time bucket alone, ClickHouse would skip the sort after WITH FILL and omit
 * filled rows from rows_before_limit.
 */
export function orderOfGroups(order: readonly AggregateOrder[], types: readonly OutputColumn['type'][]): OrderBy[] {
  const asked = order.flatMap((of) =>
    of.kind === 'metric'
      ? [orderBy(METRIC, of.direction)]
      : orderByValue(groupAlias(of.index), types[of.index], of.direction),
  );
  return order.some((of) => of.kind === 'metric') ? asked : [...asked, orderBy(METRIC, 'desc')];
}
