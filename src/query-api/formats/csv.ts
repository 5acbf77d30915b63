// `format: csv`: RFC 4180 with a header row, safe to open in a spreadsheet. Text that a spreadsheet would run as a formula is
// prefixed with an apostrophe; numbers are left as they are.
//
// Where the decimal sign is a comma, spreadsheets separate cells by semicolons, and take the quotes of a comma-separated line
// for text. So the text behind each semicolon, tab or line break inside a cell is guarded as if it were a cell of its own.
import { type Answer, type Cell, isTexts, joinTexts } from '../shape.js';

const LINE_END = '\r\n';

/** Most texts: they begin with a letter or a digit, and hold nothing that separates cells. */
const PLAIN = /^[A-Za-z0-9/][^;\t\r\n]*$/;
const SEPARATOR = /([;\t\r\n])/;
const NUMBER = /^[+-]?\d+(\.\d+)?(e[+-]?\d+)?$/i;
/** What a reader may remove before it looks for a formula: white space, characters that are shown as nothing, quotes. */
const SKIPPED = /^[\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}"]+/u;
const QUOTED = /[",;\t\r\n]|^\s|\s$/;

/** Full-width and small forms count as the character that they stand for, as spreadsheets take them. */
function isFormula(text: string): boolean {
  const [first = ''] = text.replace(SKIPPED, '').slice(0, 2).normalize('NFKC');
  return /[=+\-@\u2212]/.test(first);
}

const guard = (text: string): string => (isFormula(text) && !NUMBER.test(text.trim()) ? `'${text}` : text);

function guardText(text: string): string {
  if (PLAIN.test(text)) return text;
  const pieces = text.split(SEPARATOR);
  // The separators stand at the odd places.
  const guarded = pieces.map((piece, index) => (index === 0 || index % 2 === 1 ? piece : guard(piece))).join('');
  // A number is one as a whole only: `-5` is, and `-5;=A1` is not.
  const isGuarded = isFormula(text) ? !NUMBER.test(text.trim()) : /^[\t\r\n]/.test(text);
  return isGuarded ? `'${guarded}` : guarded;
}

const quoteWhereNeeded = (text: string): string => (QUOTED.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

function toField(cell: Cell, type: string): string {
  if (cell === null) return '';
  if (typeof cell === 'number' || typeof cell === 'boolean') return String(cell);
  if (typeof cell === 'string') return quoteWhereNeeded(guardText(cell));
  return quoteWhereNeeded(guardText(isTexts(cell) ? joinTexts(cell, type) : JSON.stringify(cell)));
}

export const formatCsv = (answer: Answer): string => [...csvLines(answer)].join('');

/** A line at a time: an answer may be tens of megabytes. */
export function* csvLines({ columns, rows }: Answer): Generator<string> {
  yield columns.map((column) => toField(column.name, 'text')).join(',') + LINE_END;
  for (const row of rows) {
    yield row.map((cell, index) => toField(cell, columns[index]?.type ?? '')).join(',') + LINE_END;
  }
}
