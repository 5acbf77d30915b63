// Takes the filters of rows of an answer. They come before `top` and `limit`.
import type { StageOf } from '../parse/syntax.js';
import type { Condition } from './resolved.js';
import { type Columns, resolveRowFilters } from './row-filters.js';
import { report, type Scope } from './scope.js';
import type { StageReader } from './stage-reader.js';

interface Filtered extends Columns {
  readonly size: StageOf<'limit' | 'top'> | undefined;
}

export function takeHaving(scope: Scope, stages: StageReader, { size, ...columns }: Filtered): Condition | undefined {
  const [metric] = Object.keys(columns.computed);
  const filters = stages.takeRowFilters();
  for (const filter of filters) {
    if (size?.kind === 'top' && size.withOther) {
      report(scope, filter.span, `where ${metric} does not go with top … other`, 'leave one of them out');
    } else if (size && stages.isBefore(size, filter)) {
      report(
        scope,
        filter.span,
        `where comes after ${size.kind}`,
        `rows are filtered first: where ${metric} > 20 | ${size.kind} …`,
      );
    }
  }
  return resolveRowFilters(scope, filters, columns);
}
