// `format: llm`: a Markdown table with its context: the query, the period, and how many rows are
// not shown.
import { markdownTable } from 'markdown-table';
import { type Cell, isTexts, joinTexts } from './cell.js';
import { escapeCell, escapeLine, escapeMarkdown } from './markdown-escape.js';

/** UTC times, as answers show them. */
export interface Period {
  readonly from: string;
  readonly to: string;
}

/** What is written of an answer. */
export interface MarkdownAnswer {
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  /** One cell for each column. */
  readonly rows: readonly (readonly Cell[])[];
  readonly total: number;
  /** Whether the next page has rows. */
  readonly hasMore: boolean;
  readonly period: Period;
  /** The range of `compare`. */
  readonly earlier?: Period;
  readonly timezone: string;
  readonly warnings: readonly string[];
  readonly footnotes?: readonly string[];
}

const NONE = '(none)';

/** JSON and CSV have the exact number. */
const DECIMALS_MAX = 6;

/** Fractions as percentages, with up to two decimals. */
const toPercent = (rate: number): string => `${Number((rate * 100).toFixed(2))}%`;

function toText(cell: Cell, type: string): string {
  if (cell === null) return NONE;
  if (type === 'rate' && typeof cell === 'number') return toPercent(cell);
  if (type === 'percent' && typeof cell === 'number') return String(Number(cell.toFixed(2)));
  if (typeof cell === 'number') return String(Number(cell.toFixed(DECIMALS_MAX)));
  if (isTexts(cell)) return escapeCell(joinTexts(cell, type));
  return escapeCell(typeof cell === 'object' ? JSON.stringify(cell) : String(cell));
}

const isRightAligned = (type: string): boolean => ['number', 'rate', 'percent'].includes(type);

const SURROGATE = /[\ud800-\udfff]/;
const countCharacters = (text: string): number => (SURROGATE.test(text) ? [...text].length : text.length);

// One long text widens its column in every row.
const SPACES_MAX = 4 * 1024 * 1024;

/** Whether columns can be padded to the width of their longest cell. */
function canAlign(table: readonly (readonly string[])[]): boolean {
  const widths: number[] = [];
  let length = 0;
  for (const row of table) {
    for (const [index, cell] of row.entries()) {
      widths[index] = Math.max(widths[index] ?? 0, cell.length);
      length += cell.length;
    }
  }
  return widths.reduce((sum, width) => sum + width, 0) * table.length - length <= SPACES_MAX;
}

/** `isCompact`: columns are not padded to one width. */
export function formatTable(answer: Pick<MarkdownAnswer, 'columns' | 'rows'>, { isCompact = false } = {}): string {
  const header = answer.columns.map((column) => escapeCell(column.name));
  const body = answer.rows.map((row) => row.map((cell, index) => toText(cell, answer.columns[index]?.type ?? '')));
  const table = [header, ...body];
  return markdownTable(table, {
    alignDelimiters: !isCompact && canAlign(table),
    align: answer.columns.map(({ type }) => (isRightAligned(type) ? 'right' : null)),
    stringLength: countCharacters,
  });
}

/** Period, rows, remarks and warnings. */
export function formatFooter(answer: MarkdownAnswer): string {
  const { period, earlier, timezone, rows, total } = answer;
  const shown = `Rows: ${rows.length} of ${total}${answer.hasMore ? '; more with limit and offset of the request' : ''}.`;
  const compared = earlier ? ` Compared with: ${earlier.from} to ${earlier.to}.` : '';
  const lines = [`Period: ${period.from} to ${period.to}.${compared} Time zone: ${escapeMarkdown(timezone)}. ${shown}`];
  return [
    ...lines,
    ...(answer.footnotes ?? []).map(escapeLine),
    ...answer.warnings.map((warning) => `Warning: ${escapeMarkdown(warning)}.`),
  ].join('\n');
}

export function formatLlm(answer: MarkdownAnswer, query: string): string {
  const heading = `## ${escapeMarkdown(query.trim().replace(/\s*[\r\n]+\s*/g, ' '))}`;
  return `${heading}\n\n${formatTable(answer)}\n\n${formatFooter(answer)}\n`;
}
