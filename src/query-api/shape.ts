// Converts the engine's rows to an answer, whose total is that of the query, not of the page.
import { formatInstant } from '../platform/instant.js';
import { ANNOTATIONS_SHOWN } from '../query/annotations.js';
import type { Cell } from '../query/cell.js';
import { type Presented, roundComputed, toCell } from '../query/cells.js';
import type { CompiledQuery } from '../query/compile.js';
import type { Period } from '../query/markdown.js';
import type { OutputColumn, PostProcess } from '../query/plan/plan.js';
import { remarksOn } from '../query/remarks.js';
import { present } from '../query/sources/presenters.js';

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
  readonly period: Period;
  /** The range of `compare`. */
  readonly earlier?: Period;
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
  /** Events without the unit of the query. */
  readonly withoutUnit?: number;
  readonly elapsedMs: number;
}

/** Columns that name a row, with its values. */
type Row = Readonly<Record<string, Cell>>;

/** A compiled query without its statements. */
export type AnswerForm = Omit<CompiledQuery, 'statement' | 'countStatement' | 'eventBefore'>;

/** A statement may be long, and threads get a copy of their input. */
export function withoutStatements(compiled: CompiledQuery): AnswerForm {
  const { statement: _, countStatement: _count, eventBefore: _before, ...form } = compiled;
  return form;
}

export function toAnswer(compiled: AnswerForm, offset: number, measured: EngineOutcome): Answer {
  const { rows: exact, total, extraFields, footnotes = [] } = toPage(compiled, offset, measured);
  const isOver = exact.some((row) => row.some(isNotFinite));
  const rows = withoutNoise(compiled, isOver ? exact.map((row) => row.map(finiteOrNull)) : exact);
  const metadata = {
    ...compiled.metadata,
    ...unitOf(compiled, measured),
    ...incompleteRows(compiled, rows, measured.rows),
    ...partialBuckets(compiled, rows),
    ...annotationsOf(compiled),
  };
  const remarks = [...footnotes, ...remarksOn(metadata), ...remarksOnMore(compiled)];
  const { earlier } = compiled;
  return {
    columns: compiled.columns,
    rows,
    metric: compiled.metric,
    total,
    isTruncated: total > rows.length,
    hasMore: total > offset + rows.length,
    elapsedMs: measured.elapsedMs,
    rowsScanned: measured.rowsScanned,
    period: toPeriod(compiled.range),
    ...(earlier && { earlier: toPeriod(earlier) }),
    timezone: compiled.timezone,
    mode: compiled.mode,
    warnings: [...compiled.warnings, ...overflowOf(compiled, rows, isOver)],
    ...(Object.keys(metadata).length > 0 && { metadata }),
    ...(extraFields && { extraFields }),
    ...(remarks.length > 0 && { footnotes: remarks }),
  };
}

/** After sorting and paging, so that these do not depend on the rounding. */
function withoutNoise({ columns }: AnswerForm, rows: Presented['rows']): Presented['rows'] {
  if (!columns.some(({ isComputed }) => isComputed)) return rows;
  return rows.map((row) => row.map((cell, index) => (columns[index]?.isComputed ? roundComputed(cell) : cell)));
}

const isNotFinite = (cell: Cell): boolean => typeof cell === 'number' && !Number.isFinite(cell);
const finiteOrNull = (cell: Cell): Cell => (isNotFinite(cell) ? null : cell);

/**
 * A sum is 0 without values: one that is null exceeds the numbers by far, because the engine has
 * infinities of both signs.
 */
function overflowOf({ columns, metric, mode }: AnswerForm, rows: Presented['rows'], isOver: boolean): string[] {
  const sums = mode === 'retention' ? ['total', 'cumulative'] : metric?.name === 'sum' ? [metric.column] : [];
  const isSumOver = columns.some(({ name }, index) => sums.includes(name) && rows.some((row) => row[index] === null));
  return isOver || isSumOver ? ['a result is too large for a 64-bit floating point number, and is null'] : [];
}

/** Partial buckets of which the page has rows. */
function partialBuckets(
  { columns, partial }: AnswerForm,
  rows: Presented['rows'],
): { readonly partial?: readonly Row[] } {
  if (partial === undefined) return {};
  const { column, startsMs } = partial;
  const index = columns.findIndex(({ name }) => name === column);
  const shown = new Set(rows.map((row) => row[index]));
  const marked = [...shown].filter((cell) => startsMs.includes(Date.parse(String(cell))));
  return marked.length === 0 ? {} : { partial: marked.map((cell) => ({ [column]: cell ?? null })) };
}

const unitOf = ({ withoutUnit: asked }: AnswerForm, { withoutUnit = 0 }: EngineOutcome) =>
  asked ? { unit: asked.unit, without_unit: withoutUnit } : {};

/** `time`: the instant, or that at which the day begins. */
const annotationsOf = ({ annotations = [] }: AnswerForm) =>
  annotations.length === 0
    ? {}
    : {
        annotations: annotations
          .slice(0, ANNOTATIONS_SHOWN)
          .map(({ at, text, timeMs }) => ({ at, time: formatInstant(timeMs), text })),
      };

/** Beside those of the metadata. */
const remarksOnMore = ({ annotations = [] }: AnswerForm): string[] =>
  annotations.length > ANNOTATIONS_SHOWN ? [`And ${annotations.length - ANNOTATIONS_SHOWN} more annotations.`] : [];

/** The rows of the page whose time is not over, by the columns that name a row. */
function incompleteRows(
  { columns, incompleteBy }: AnswerForm,
  rows: Presented['rows'],
  measured: EngineOutcome['rows'],
): { readonly incomplete?: readonly Row[] } {
  if (incompleteBy === undefined) return {};
  const marked = rows.filter((_, index) => Number(measured[index]?.[columns.length]) === 1);
  const indexes = incompleteBy.map((name) => [name, columns.findIndex((column) => column.name === name)] as const);
  const incomplete = marked.map((row) =>
    Object.fromEntries(indexes.map(([name, index]): [string, Cell] => [name, row[index] ?? null])),
  );
  return { incomplete };
}

export const toPeriod = ({ fromMs, toMs }: CompiledQuery['range']): Period => ({
  from: formatInstant(fromMs),
  to: formatInstant(toMs),
});

interface Page extends Presented {
  readonly total: number;
}

/** NaN is a missing number, except where numbers are computed: there it is too large a one. */
const nanAsNull = (value: unknown): unknown =>
  Number.isNaN(value) ? null : Array.isArray(value) ? value.map(nanAsNull) : value;

/** Missing numbers of a formula, and of the metric of an aggregate, are null. */
const isOfNumbers = ({ columns, metric, mode }: AnswerForm, at: number): boolean =>
  columns[at]?.isComputed === true && (mode === 'formula' || columns[at]?.name === metric?.column);

function toPage(compiled: AnswerForm, offset: number, measured: EngineOutcome): Page {
  const { columns, presentation, rowsKept, rowsMax } = compiled;
  const found = measured.rows.map((row) => row.map((cell, at) => (isOfNumbers(compiled, at) ? cell : nanAsNull(cell))));
  if (presentation) {
    const presented = present(presentation, found);
    const { order, shownOrder = [] } = presentation;
    const kept = sortRows(presented.rows, columns, order).slice(0, rowsMax);
    const all = { ...presented, rows: sortRows(kept, columns, shownOrder) };
    const total = all.rows.length;
    return { ...all, rows: all.rows.slice(offset, offset + rowsKept), total };
  }
  const rows = found.slice(0, rowsKept);
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
