// Resolves `sort`, `top` and `limit` for sources with fixed answer columns.
import { findNearest, quote } from '../errors.js';
import { isDefined } from '../is-defined.js';
import type { SortKey } from '../parse/syntax.js';
import type { ColumnOrder } from './resolved.js';
import { report, type Scope } from './scope.js';
import type { StageReader } from './stage-reader.js';

export interface SortableColumns {
  readonly columns: readonly string[];
  /** Columns that are neither a metric nor a time: ascending unless the query says otherwise. */
  readonly ascending?: readonly string[];
  /** Metric column that `top` uses. */
  readonly metric: string | undefined;
}

export interface AnswerOrder {
  /** Empty for the default order of the source. */
  readonly order: readonly ColumnOrder[];
  /** The order of the rows that `top` keeps, when `sort` requires another one than the metric's. */
  readonly shownOrder?: readonly ColumnOrder[];
  /** Maximum number of rows, from `limit` or `top`. */
  readonly rowsMax: number | undefined;
}

/** The order alone, of a query that has more. */
export const orderOf = ({ order, shownOrder, rowsMax }: AnswerOrder): AnswerOrder => ({
  order,
  ...(shownOrder && { shownOrder }),
  rowsMax,
});

/**
 * `top` keeps the rows with the largest metric, and `sort` orders what is kept, whichever of the
 * two is written first.
 */
export function takeAnswerOrder(scope: Scope, stages: StageReader, sortable: SortableColumns): AnswerOrder {
  const { metric } = sortable;
  const sort = stages.takeOne('sort');
  const size = stages.takeSize(metric === undefined ? ['limit'] : ['top', 'limit']);
  const rowsMax = size && stages.countOf(size);
  stages.refuseOther(size);
  const sorted = sort?.keys.map((key) => resolveKey(scope, key, sortable)).filter(isDefined) ?? [];
  if (size?.kind !== 'top' || metric === undefined) return { order: sorted, rowsMax };
  const largest: ColumnOrder = { column: metric, direction: 'desc' };
  const [first] = sorted;
  if (first === undefined) return { order: [largest], rowsMax };
  // Sorted by the metric already: the other columns decide which of equal rows are kept.
  if (first.column === largest.column && first.direction === 'desc') return { order: sorted, rowsMax };
  return { order: [largest], shownOrder: sorted, rowsMax };
}

function resolveKey(
  scope: Scope,
  { field, direction }: SortKey,
  { columns, ascending = [] }: SortableColumns,
): ColumnOrder | undefined {
  // A name in quotes is a column of another form than a word.
  const column = [field.written, field.path].find((name) => columns.includes(name));
  if (column !== undefined) return { column, direction: direction ?? (ascending.includes(column) ? 'asc' : 'desc') };
  const nearest = findNearest(field.written, columns);
  return report(
    scope,
    field.span,
    `the answer has no column ${quote(field.written)} to sort by`,
    nearest ? `nearest is "${nearest}"` : `its columns are ${columns.join(', ')}`,
    nearest,
  );
}
