// `format: csv`: RFC 4180 with a header row, safe to open in a spreadsheet.
import { type Answer, type Cell, isPath, joinPath } from '../shape.js';

const LINE_END = '\r\n';

// What a spreadsheet takes for the start of a formula. A number in text starts like one and is none.
const FORMULA = /^[=+\-@\t\r]/;
const NUMBER = /^[+-]?\d+(\.\d+)?(e[+-]?\d+)?$/i;

const escapeFormula = (text: string): string => (FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text);

const quoteWhereNeeded = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

function toField(cell: Cell): string {
  if (cell === null) return '';
  if (typeof cell === 'string') return quoteWhereNeeded(escapeFormula(cell));
  if (isPath(cell)) return quoteWhereNeeded(escapeFormula(joinPath(cell)));
  return quoteWhereNeeded(typeof cell === 'object' ? JSON.stringify(cell) : String(cell));
}

export function formatCsv(answer: Answer): string {
  const header = answer.columns.map((column) => toField(column.name));
  const lines = [header, ...answer.rows.map((row) => row.map(toField))];
  return lines.map((fields) => fields.join(',') + LINE_END).join('');
}
