// Outer select of every plan: page (limit, offset), sort order of values, and `sort` after `top`.
import type { ColumnOrder, Group, ResolvedField, ResolvedQuery, Rows, TimeRange } from '../analyze/resolved.js';
import { isRecurring } from '../fields.js';
import type { PlanContext } from '../people/scan.js';
import { findPartialBuckets } from '../time/partial-buckets.js';
import { alias, constant, type Expression, equals, tupleElement } from './expressions.js';
import { numberInText } from './field-expressions.js';
import {
  type Columns,
  type ColumnType,
  type OrderBy,
  type OutputColumn,
  type Plan,
  type Select,
  select,
  step,
} from './plan.js';

/** Passes columns of the step through, by name. */
export const passThrough = (...names: readonly string[]): Columns =>
  Object.fromEntries(names.map((name) => [name, alias(name)]));

/**
 * Page of the request within the rows of a `limit` stage. At least one row is requested, because
 * ClickHouse does not count rows before LIMIT 0.
 */
export function pageOf(
  context: PlanContext,
  rowsMax: number | undefined,
): { limit: number; offset: number; kept: number } {
  const kept = Math.max(0, Math.min(context.limit, (rowsMax ?? Number.POSITIVE_INFINITY) - context.offset));
  return kept > 0 ? { limit: kept, offset: context.offset, kept } : { limit: 1, offset: 0, kept };
}

// ---- Orders ----

type Direction = OrderBy['direction'];

export const orderBy = (of: Expression | string, direction: Direction = 'asc'): OrderBy => ({
  expression: typeof of === 'string' ? alias(of) : of,
  direction,
});

/**
 * Sort order of values: text forms that may be numbers sort numbers first, by size. Missing values
 * come last in both directions, also when stored as empty text.
 */
export function orderByValue(name: string, type: ColumnType | undefined, direction: Direction): OrderBy[] {
  const value = orderBy(name, direction);
  switch (type) {
    case 'text':
      return [orderBy(equals(alias(name), constant(''))), value];
    case 'nullable_text':
      return [orderBy(numberInText(alias(name)), direction), value];
    case 'typed_text': {
      const text = tupleElement(alias(name), 1);
      return [orderBy(numberInText(text), direction), orderBy(text, direction)];
    }
    default:
      return [value];
  }
}

/** Sort order for a select whose columns correspond to the answer's columns by position. */
export function orderByColumns(
  { columns: selected, orderBy: own = [] }: Pick<Select, 'columns' | 'orderBy'>,
  columns: readonly OutputColumn[],
  order: readonly ColumnOrder[],
): OrderBy[] {
  const names = Object.keys(selected);
  const asked = order.flatMap(({ column: name, direction }): OrderBy[] => {
    const index = columns.findIndex((of) => of.name === name);
    return orderByValue(names[index] ?? name, columns[index]?.type, direction);
  });
  const aliasOf = ({ expression }: OrderBy) => (expression.kind === 'alias' ? expression.alias : undefined);
  const isAsked = (of: OrderBy) => asked.some((other) => aliasOf(of) !== undefined && aliasOf(other) === aliasOf(of));
  return [...asked, ...own.filter((of) => !isAsked(of))];
}

// ---- Plans ----

/** The width of `bucket(…)`, as a part of the answer; nothing where no group is one. */
export function widthOf(groups: readonly Group[]): Pick<Plan, 'metadata'> {
  const bucket = groups.find((group) => group.kind === 'number_bucket');
  return bucket?.kind === 'number_bucket' ? { metadata: { bucket_width: bucket.width } } : {};
}

interface AnswerParts
  extends Pick<Plan, 'mode' | 'columns'>,
    Partial<Pick<Plan, 'metric' | 'presentation' | 'metadata' | 'incompleteBy' | 'withoutUnit'>> {
  readonly query: ResolvedQuery;
  readonly range: TimeRange;
  readonly context: PlanContext;
  /** All rows of the answer in order, before paging, unless `isPaged`. */
  readonly select: Select;
  /**
   * A step of the select has the page: ClickHouse counts the rows before its LIMIT, because the
   * select itself has none. The step is sorted, so that it reads all rows.
   */
  readonly isPaged?: boolean;
  /** Sort keys that precede the default order. */
  readonly order?: readonly ColumnOrder[];
  /** Counts the rows, when the engine should not. */
  readonly count?: Select;
}

export function planAnswer(parts: AnswerParts): Plan {
  const { query, range, context, mode, select: rows, columns, order = [], count, isPaged } = parts;
  const { metric, presentation, metadata, incompleteBy, withoutUnit } = parts;
  const { rowsMax, timezone, warnings, earlier } = { earlier: undefined, ...query };
  const { limit, offset, kept } = pageOf(context, rowsMax);
  const sorted = order.length > 0 ? { ...rows, orderBy: orderByColumns(rows, columns, order) } : rows;
  return {
    mode,
    // Post-processing needs all rows.
    select: presentation ? rows : { ...sorted, ...(!isPaged && { limit, offset }) },
    columns,
    metric,
    ...(presentation && { presentation }),
    total: count ? { kind: 'count', rowsMax, select: count } : { kind: 'engine', rowsMax },
    rowsKept: kept,
    range,
    ...(earlier && { earlier }),
    timezone,
    warnings,
    ...(incompleteBy && { incompleteBy }),
    ...partialOf(parts),
    ...(withoutUnit && { withoutUnit }),
    ...(metadata && { metadata }),
  };
}

/** The time of rows that are not events, which the range cuts. */
const OWN_TIMES: Readonly<Record<Rows['kind'], string>> = {
  latest: 'set_at',
  profiles: 'profile_last_seen',
  sessions: 'session_start_time',
};

function isOwnTime(rows: Rows | undefined, field: ResolvedField): boolean {
  const column = field.kind === 'column' ? field.field.column : field.kind === 'computed' ? field.alias : undefined;
  return rows !== undefined && column === OWN_TIMES[rows.kind];
}

/**
 * Of a window before each bucket only the last can be partial. The range does not cut the buckets
 * of another time than the row's own; only the present does.
 */
function partialOf({ query, columns, range, context: { nowMs } }: AnswerParts): Pick<Plan, 'partial'> {
  const hasWindow = 'window' in query && query.window !== undefined;
  const groups = 'groups' in query ? query.groups : [];
  const rows = 'rows' in query ? query.rows : undefined;
  const bucket = groups.find((group) => group.kind === 'bucket' && !isRecurring(group.granularity));
  const isOfOther = bucket?.kind === 'bucket' && bucket.of !== undefined && !isOwnTime(rows, bucket.of);
  const cutting = isOfOther ? { fromMs: nowMs, toMs: nowMs } : range;
  const partial = findPartialBuckets(columns, cutting, { ...query, nowMs, isFirstWhole: hasWindow });
  return partial === undefined ? {} : { partial };
}

interface Asked {
  readonly shownOrder: readonly ColumnOrder[];
  readonly rowsMax: number;
  /** Context of the requested page. */
  readonly context: PlanContext;
}

/**
 * `sort` behind `top`: one select keeps the rows of `top` on a single page, and an outer one sorts
 * them.
 */
export function sortKept(kept: Plan, { shownOrder, rowsMax, context }: Asked): Plan {
  const { select: rows, columns, presentation } = kept;
  const page = pageOf(context, rowsMax);
  if (presentation) return { ...kept, presentation: { ...presentation, shownOrder }, rowsKept: page.kept };
  // All columns are sort keys, so that the order is total and pages never overlap.
  const others = columns.filter(({ name }) => !shownOrder.some((order) => order.column === name));
  const order = [...shownOrder, ...others.map(({ name }) => ({ column: name, direction: 'asc' as const }))];
  return {
    ...kept,
    select: select({
      columns: passThrough(...Object.keys(rows.columns)),
      from: step('kept', rows),
      orderBy: orderByColumns({ columns: rows.columns }, columns, order),
      limit: page.limit,
      offset: page.offset,
    }),
    rowsKept: page.kept,
  };
}
