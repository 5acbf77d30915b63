// Converts the engine's rows to an answer: missing values become null, property maps become one
// object, and the total is that of the query, not of the page.
import { assertNever } from '../platform/errors.js';
import type { CompiledQuery } from '../query/compile.js';
import type { ColumnType, OutputColumn, PostProcess } from '../query/plan/plan.js';
import { presentChoice } from './choice.js';
import { propertyName, toFieldRows, toTopKeys, toTypes } from './discovery.js';

export type Cell = null | string | number | boolean | readonly string[] | Readonly<Record<string, unknown>>;

export const isTexts = (cell: Cell): cell is readonly string[] => Array.isArray(cell);
/** Joins the texts of a cell with several: the nodes of a path, or a list. */
export const joinTexts = (texts: readonly string[], type: string): string =>
  texts.join(type === 'path' ? ' -> ' : ', ');

export interface Answer {
  readonly columns: readonly OutputColumn[];
  /** One cell for each column. */
  readonly rows: readonly (readonly Cell[])[];
  readonly metric: CompiledQuery['metric'];
  readonly total: number;
  readonly isTruncated: boolean;
  /** Whether the next page has rows. */
  readonly hasMore: boolean;
  readonly elapsedMs: number;
  readonly rowsScanned: number;
  readonly period: { readonly from: string; readonly to: string };
  readonly timezone: string;
  readonly mode: string;
  readonly warnings: readonly string[];
  readonly metadata?: CompiledQuery['metadata'];
  /** Fields of the JSON answer beside its rows. */
  readonly extraFields?: Readonly<Record<string, unknown>>;
  /** Remarks for the text formats. */
  readonly footnotes?: readonly string[];
}

export interface EngineOutcome {
  readonly rows: readonly (readonly unknown[])[];
  /** Rows of the query, of which `rows` is a page. */
  readonly total: number;
  readonly rowsScanned: number;
  readonly elapsedMs: number;
}

/** A compiled query without its statements. */
export type AnswerForm = Omit<CompiledQuery, 'statement' | 'countStatement'>;

export function toAnswer(compiled: AnswerForm, offset: number, measured: EngineOutcome): Answer {
  const { rows, total, extraFields, footnotes } = toPage(compiled, offset, measured);
  return {
    columns: compiled.columns,
    rows,
    metric: compiled.metric,
    total,
    isTruncated: total > rows.length,
    hasMore: total > offset + rows.length,
    elapsedMs: measured.elapsedMs,
    rowsScanned: measured.rowsScanned,
    period: { from: formatInstant(compiled.range.fromMs), to: formatInstant(compiled.range.toMs) },
    timezone: compiled.timezone,
    mode: compiled.mode,
    warnings: compiled.warnings,
    ...(compiled.metadata && { metadata: compiled.metadata }),
    ...(extraFields && { extraFields }),
    ...(footnotes && { footnotes }),
  };
}

/** All rows after post-processing, before paging. */
export interface Presented {
  readonly rows: readonly (readonly Cell[])[];
  readonly extraFields?: Answer['extraFields'];
  readonly footnotes?: readonly string[];
}

interface Page extends Presented {
  readonly total: number;
}

function present(presentation: PostProcess, rows: EngineOutcome['rows']): Presented {
  switch (presentation.kind) {
    case 'fields':
      return { rows: toFieldRows(rows) };
    case 'choice':
      return presentChoice(presentation, rows);
    default:
      return assertNever(presentation);
  }
}

function toPage(compiled: AnswerForm, offset: number, measured: EngineOutcome): Page {
  const { columns, presentation, rowsKept, rowsMax } = compiled;
  if (presentation) {
    const presented = present(presentation, measured.rows);
    const { order, shownOrder = [] } = presentation;
    const kept = sortRows(presented.rows, columns, order).slice(0, rowsMax);
    const all = { ...presented, rows: sortRows(kept, columns, shownOrder) };
    const total = all.rows.length;
    return { ...all, rows: all.rows.slice(offset, offset + rowsKept), total };
  }
  const rows = measured.rows.slice(0, rowsKept);
  return { rows: rows.map((row) => columns.map(({ type }, index) => toCell(type, row[index]))), total: measured.total };
}

/**
 * Sorts like ClickHouse: numbers by size, texts by characters, missing values last in both
 * directions.
 */
function sortRows(
  rows: Presented['rows'],
  columns: readonly OutputColumn[],
  order: PostProcess['order'],
): Presented['rows'] {
  const keys = order.map((of) => ({
    index: columns.findIndex((column) => column.name === of.column),
    sign: of.direction === 'asc' ? 1 : -1,
  }));
  const compare = (a: readonly Cell[], b: readonly Cell[]): number =>
    keys.reduce((found, { index, sign }) => found || compareCells(a[index] ?? null, b[index] ?? null, sign), 0);
  return keys.length > 0 ? [...rows].sort(compare) : rows;
}

function compareCells(a: Cell, b: Cell, sign: number): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return a < b ? -sign : a > b ? sign : 0;
}

/** RFC 3339 in UTC, with milliseconds only if they are not zero. */
export const formatInstant = (ms: number): string => new Date(ms).toISOString().replace('.000Z', 'Z');

function toCell(type: ColumnType, value: unknown): Cell {
  switch (type) {
    case 'text':
      return value === '' ? null : (value as Cell);
    case 'nullable_text':
    case 'number':
    case 'rate':
    case 'percent':
    case 'path':
    case 'time':
    case 'date':
      return (value ?? null) as Cell;
    case 'properties':
      return joinBuckets(value);
    case 'typed_text':
      return toTyped(value as readonly [string | null, number]);
    case 'texts':
      return value as readonly string[];
    case 'top_keys':
      return toTopKeys(value);
    case 'type_counts':
      return toTypes(value);
    case 'property_name': {
      const [bag, key] = value as readonly [string, string];
      return propertyName(bag, key);
    }
    default:
      return assertNever(type);
  }
}

/** The text form of a value, and whether it is the form of a number or a boolean. */
function toTyped([text, isNoText]: readonly [string | null, number]): Cell {
  if (text === null || Number(isNoText) === 0) return text;
  return text === 'true' || text === 'false' ? text === 'true' : Number(text);
}

type Bucket = Readonly<Record<string, unknown>>;

/**
 * Sorted by key, so that equal properties look equal. Built from entries, because a key may be
 * `__proto__`. A numeric text is in both maps: sorting is stable and the last entry of a key wins,
 * which is the text.
 */
function joinBuckets(value: unknown): Readonly<Record<string, unknown>> {
  // A profile has no nulls.
  const [texts, numbers, booleans, nulls = []] = value as readonly [Bucket, Bucket, Bucket, (readonly string[])?];
  const entries: [string, unknown][] = [
    ...Object.entries(numbers),
    ...Object.entries(texts),
    ...Object.entries(booleans),
    ...nulls.map((key): [string, null] => [key, null]),
  ];
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
}
