// Tables of rows with ranks: rows of equal rank may have any order among themselves, and where a
// limit cuts through a rank, any of its rows may be kept.
import type { Ending } from './question.js';
import { compareText, numberOf } from './values.js';

export type Cell = string | number | boolean | null | readonly string[] | Readonly<Record<string, unknown>>;
export type Row = Readonly<Record<string, Cell>>;

export interface Table {
  readonly rows: readonly Row[];
  /** Parallel to `rows`, ascending. */
  readonly ranks: readonly number[];
  /** Rows removed by a limit that have the rank of the last row kept. */
  readonly spare: readonly Row[];
}

export type RowOrder = (a: Row, b: Row) => number;

/** Missing values come last in both directions. */
export function compareCells(a: Cell | undefined, b: Cell | undefined): number {
  if (a === null || a === undefined || b === null || b === undefined) return Number(a == null) - Number(b == null);
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (Array.isArray(a) && Array.isArray(b)) return compareLists(a, b);
  return compareText(String(a), String(b));
}

function compareLists(a: readonly string[], b: readonly string[]): number {
  for (const [position, text] of a.entries()) {
    const other = b[position];
    if (other === undefined) return 1;
    const order = compareText(text, other);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

/** Columns that hold only text; in others, numbers come first, by size, including numeric texts. */
const OF_TEXT =
  /^(_|event_type$|status$|distinct_id$|(user\.)?(user_id|email|email_domain)$|device_id$|session_id$|insert_id$|(user_last_)?session\.(?!duration$|event_count$|geo_l))/;

function numberIn(cell: Cell | undefined): number | undefined {
  if (typeof cell !== 'number' && typeof cell !== 'string') return undefined;
  const number = numberOf(cell);
  return Number.isFinite(number) ? number : undefined;
}

/** Missing values come last in both directions. */
const directed =
  (column: string, sign: 1 | -1): RowOrder =>
  (a, b) => {
    const [left, right] = [a[column], b[column]];
    if (left == null || right == null) return compareCells(left, right);
    if (OF_TEXT.test(column)) return sign * compareCells(left, right);
    const [number, other] = [numberIn(left), numberIn(right)];
    if (number === undefined || other === undefined) {
      return Number(number === undefined) - Number(other === undefined) || sign * compareCells(left, right);
    }
    return sign * (number - other || compareCells(left, right));
  };

export const ascending = (column: string): RowOrder => directed(column, 1);
export const descending = (column: string): RowOrder => directed(column, -1);

export const inOrder =
  (...orders: readonly RowOrder[]): RowOrder =>
  (a, b) => {
    for (const order of orders) {
      const result = order(a, b);
      if (result !== 0) return result;
    }
    return 0;
  };

/** Rows that the order leaves equal keep their sequence, and share a rank. */
export function ordered(rows: readonly Row[], order: RowOrder): Table {
  const sorted = [...rows].sort(order);
  const ranks: number[] = [];
  let rank = 0;
  let previous: Row | undefined;
  for (const row of sorted) {
    if (previous !== undefined && order(previous, row) !== 0) rank += 1;
    ranks.push(rank);
    previous = row;
  }
  return { rows: sorted, ranks, spare: [] };
}

/** Rows whose order is part of the answer. */
export const inThisOrder = (rows: readonly Row[]): Table => ({ rows, ranks: rows.map((_, index) => index), spare: [] });

/** Rows whose order is open. */
export const inAnyOrder = (rows: readonly Row[]): Table => ordered(rows, () => 0);

export function limited({ rows, ranks }: Table, count: number): Table {
  const lastRank = ranks[count - 1];
  return {
    rows: rows.slice(0, count),
    ranks: ranks.slice(0, count),
    spare: rows.filter((_, index) => index >= count && ranks[index] === lastRank),
  };
}

function largest(table: Table, metric: string | undefined, count: number): Table {
  if (metric === undefined) throw new Error('top needs a metric');
  return limited(ordered(table.rows, descending(metric)), count);
}

/** `top … other` needs the items of the groups: see `aggregated`. */
export const isWithOther = (ending: Ending | undefined): boolean =>
  (ending?.kind === 'top' || ending?.kind === 'sort') && ending.other === true;

/** Applies `sort`, `limit` or `top` to rows in their default order. */
export function ended(table: Table, ending: Ending | undefined, metric: string | undefined): Table {
  if (isWithOther(ending)) return table;
  switch (ending?.kind) {
    case undefined:
      return table;
    case 'limit':
      return limited(table, ending.count);
    case 'top':
      return largest(table, metric, ending.count);
    case 'sort': {
      const order = (ending.descending ? descending : ascending)(ending.column);
      if (ending.top !== undefined) {
        const { rows, spare } = largest(table, metric, ending.top);
        // Which of equal rows are kept is open, and therefore the position of all others.
        return spare.length === 0 ? ordered(rows, order) : { ...inAnyOrder(rows), spare };
      }
      const sorted = ordered(table.rows, order);
      return ending.limit === undefined ? sorted : limited(sorted, ending.limit);
    }
  }
}

export type Mode =
  | 'aggregate'
  | 'list'
  | 'latest_aggregate'
  | 'funnel'
  | 'retention'
  | 'paths'
  | 'sessions'
  | 'lifecycle'
  | 'stickiness'
  | 'user'
  | 'users'
  | 'people'
  | 'formula'
  | 'fields'
  | 'inspect'
  | 'choice';

export interface Answer extends Table {
  readonly mode: Mode;
  readonly columns: readonly string[];
  /** Columns that must be present but whose values are not specified, so they are not compared. */
  readonly open?: readonly string[];
  /** Columns compared by their text form. */
  readonly asText?: readonly string[];
  /** Rows of the service that the oracle covers; all when absent. */
  readonly concerns?: (row: Row) => boolean;
  /** Fields beside the rows that must be in the service's answer, compared deeply. */
  readonly beside?: Readonly<Record<string, unknown>>;
}
