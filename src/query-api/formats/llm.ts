// `format: llm`: a Markdown table with what a reader needs to trust it: the question, the period, and what is not shown.
import { type Answer, type Cell, isTexts, joinTexts } from '../shape.js';
import { escapeCell, escapeLine, escapeMarkdown } from './markdown-escape.js';

const NONE = '(none)';

/** Fractions as percentages, with up to two decimals. */
const toPercent = (rate: number): string => `${Number((rate * 100).toFixed(2))}%`;

function toText(cell: Cell, type: string): string {
  if (cell === null) return NONE;
  if (type === 'rate' && typeof cell === 'number') return toPercent(cell);
  if (type === 'percent' && typeof cell === 'number') return String(Number(cell.toFixed(2)));
  if (isTexts(cell)) return escapeCell(joinTexts(cell, type));
  return escapeCell(typeof cell === 'object' ? JSON.stringify(cell) : String(cell));
}

const isRightAligned = (type: string): boolean => ['number', 'rate', 'percent'].includes(type);

const countCharacters = (text: string): number => [...text].length;
const pad = (text: string, width: number): string => ' '.repeat(Math.max(0, width - countCharacters(text)));

function formatTable(answer: Answer): string {
  const header = answer.columns.map((column) => escapeCell(column.name));
  const body = answer.rows.map((row) => row.map((cell, index) => toText(cell, answer.columns[index]?.type ?? '')));
  const widths = header.map((name, index) =>
    [name, ...body.map((row) => row[index] ?? '')].reduce((width, text) => Math.max(width, countCharacters(text)), 3),
  );
  const isRight = answer.columns.map((column) => isRightAligned(column.type));
  const toLine = (cells: readonly string[]): string => {
    const padded = cells.map((cell, index) => {
      const space = pad(cell, widths[index] ?? 0);
      return isRight[index] ? space + cell : cell + space;
    });
    return `| ${padded.join(' | ')} |`;
  };
  const rule = widths.map((width, index) => (isRight[index] ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width)));
  return [toLine(header), toLine(rule), ...body.map(toLine)].join('\n');
}

function formatFooter(answer: Answer): string {
  const { period, timezone, rows, total } = answer;
  const shown = `Rows: ${rows.length} of ${total}${answer.hasMore ? '; more with limit and offset' : ''}.`;
  const lines = [`Period: ${period.from} to ${period.to}. Time zone: ${escapeMarkdown(timezone)}. ${shown}`];
  return [
    ...lines,
    ...(answer.notes ?? []).map(escapeLine),
    ...answer.warnings.map((warning) => `Warning: ${escapeMarkdown(warning)}.`),
  ].join('\n');
}

export function formatLlm(answer: Answer, query: string): string {
  const heading = `## ${escapeMarkdown(query.trim().replace(/\s*[\r\n]+\s*/g, ' '))}`;
  return `${heading}\n\n${formatTable(answer)}\n\n${formatFooter(answer)}\n`;
}
