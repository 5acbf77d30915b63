// `format: csv`: RFC 4180 with a header row, safe to open in a spreadsheet.
import { type Answer, type Cell, isTexts, joinTexts } from '../shape.js';

const LINE_END = '\r\n';

// What a spreadsheet takes for the start of a formula. A number in text starts like one and is none.
const FORMULA = /^[=+\-@\t\r]/;
const NUMBER = /^[+-]?\d+(\.\d+)?(e[+-]?\d+)?$/i;

const escapeFormula = (text: string): string => (FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text);

const quoteWhereNeeded = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

function toField(cell: Cell, type: string): string {
  if (cell === null) return '';
  if (typeof cell === 'string') return quoteWhereNeeded(escapeFormula(cell));
  if (isTexts(cell)) return quoteWhereNeeded(escapeFormula(joinTexts(cell, type)));
  return quoteWhereNeeded(typeof cell === 'object' ? JSON.stringify(cell) : String(cell));
}

export function formatCsv(answer: Answer): string {
  const header = answer.columns.map((column) => toField(column.name, 'text'));
  const lines = [
    header,
    ...answer.rows.map((row) => row.map((cell, index) => toField(cell, answer.columns[index]?.type ?? ''))),
  ];
  return lines.map((fields) => fields.join(',') + LINE_END).join('');
}
