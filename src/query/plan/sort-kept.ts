// Combines `sort` with `top`: one select keeps the rows of `top`, and an outer one sorts them.
import type { ColumnOrder } from '../analyze/resolved.js';
import { type PlanContext, pageOf, passThrough } from '../sources/events/plan.js';
import { orderByColumns } from './behaviour.js';
import type { Plan } from './plan.js';

interface Asked {
  readonly shownOrder: readonly ColumnOrder[];
  readonly rowsMax: number;
  /** Of the requested page. */
  readonly context: PlanContext;
}

/** `kept` returns all kept rows on a single page. */
export function sortKept(kept: Plan, { shownOrder, rowsMax, context }: Asked): Plan {
  const { select, columns, presentation } = kept;
  const page = pageOf(context, rowsMax);
  if (presentation) return { ...kept, presentation: { ...presentation, shownOrder }, rowsKept: page.kept };
  // All columns are sort keys, so that the order is total and pages never overlap.
  const others = columns.filter(({ name }) => !shownOrder.some((order) => order.column === name));
  const order = [...shownOrder, ...others.map(({ name }) => ({ column: name, direction: 'asc' as const }))];
  return {
    ...kept,
    select: {
      kind: 'select',
      columns: passThrough(select),
      from: select,
      orderBy: orderByColumns({ columns: select.columns }, columns, order),
      limit: page.limit,
      offset: page.offset,
    },
    rowsKept: page.kept,
  };
}
