// `sort` and `top` where the columns of the answer are the source's own: by which of them its rows can be sorted.
import { findNearest, quote } from '../errors.js';
import { isDefined } from '../is-defined.js';
import type { SortKey, Stage } from '../parse/syntax.js';
import type { ColumnOrder } from './resolved.js';
import { report, type Scope } from './scope.js';
import { isKind, onlyStage } from './stages.js';

export interface SortableColumns {
  readonly columns: readonly string[];
  /** What `top` goes by. */
  readonly metric: string | undefined;
}

/** Empty where nothing is asked for: every source has an order of its own. */
export function resolveAnswerOrder(scope: Scope, stages: readonly Stage[], sortable: SortableColumns): ColumnOrder[] {
  const top = stages.find((stage) => stage.kind === 'top');
  const sort = onlyStage(scope, stages, {
    matches: isKind('sort'),
    what: 'sort',
    hint: 'one sort takes several columns',
  });
  if (top && sort) {
    const by = sortable.metric ?? 'the metric';
    report(scope, top.span, 'top does not go with sort', `top sorts by ${by} itself; after sort comes limit`);
  }
  if (top && sortable.metric !== undefined) return [{ column: sortable.metric, direction: 'desc' }];
  return sort?.keys.map((key) => resolveKey(scope, key, sortable.columns)).filter(isDefined) ?? [];
}

function resolveKey(scope: Scope, { field, direction }: SortKey, columns: readonly string[]): ColumnOrder | undefined {
  if (columns.includes(field.written)) return { column: field.written, direction };
  const nearest = findNearest(field.written, columns);
  return report(
    scope,
    field.span,
    `the answer has no column ${quote(field.written)} to sort by`,
    nearest ? `nearest is "${nearest}"` : `its columns are ${columns.join(', ')}`,
  );
}
