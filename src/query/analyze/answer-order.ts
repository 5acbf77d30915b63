// Resolves `sort` and `top` for sources with fixed answer columns.
import { findNearest, quote } from '../errors.js';
import { isDefined } from '../is-defined.js';
import type { SortKey, Stage } from '../parse/syntax.js';
import type { ColumnOrder } from './resolved.js';
import { report, type Scope } from './scope.js';
import { isKind, onlyStage } from './stages.js';

export interface SortableColumns {
  readonly columns: readonly string[];
  /** Those that are neither a metric nor a time: ascending unless the query says otherwise. */
  readonly ascending?: readonly string[];
  /** Metric column that `top` uses. */
  readonly metric: string | undefined;
}

export interface AnswerOrder {
  /** Empty for the default order of the source. */
  readonly order: readonly ColumnOrder[];
  readonly shownOrder?: readonly ColumnOrder[];
}

/** `top` keeps the rows with the largest metric, and `sort` orders what is kept, whichever of the two is written first. */
export function resolveAnswerOrder(scope: Scope, stages: readonly Stage[], sortable: SortableColumns): AnswerOrder {
  const top = stages.find((stage) => stage.kind === 'top');
  const sort = onlyStage(scope, stages, {
    matches: isKind('sort'),
    what: 'sort',
    hint: 'one sort takes several columns',
  });
  const sorted = sort?.keys.map((key) => resolveKey(scope, key, sortable)).filter(isDefined) ?? [];
  if (!top || sortable.metric === undefined) return { order: sorted };
  const largest: ColumnOrder = { column: sortable.metric, direction: 'desc' };
  const [first] = sorted;
  if (first === undefined) return { order: [largest] };
  // Sorted by the metric already: the other columns decide which of equal rows are kept.
  if (first.column === largest.column && first.direction === 'desc') return { order: sorted };
  return { order: [largest], shownOrder: sorted };
}

function resolveKey(
  scope: Scope,
  { field, direction }: SortKey,
  { columns, ascending = [] }: SortableColumns,
): ColumnOrder | undefined {
  if (columns.includes(field.written))
    return { column: field.written, direction: direction ?? (ascending.includes(field.written) ? 'asc' : 'desc') };
  const nearest = findNearest(field.written, columns);
  return report(
    scope,
    field.span,
    `the answer has no column ${quote(field.written)} to sort by`,
    nearest ? `nearest is "${nearest}"` : `its columns are ${columns.join(', ')}`,
  );
}
