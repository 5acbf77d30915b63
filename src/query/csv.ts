// `format: csv`: RFC 4180 with a header row, safe to open in a spreadsheet. Text that a spreadsheet
// would run as a formula is prefixed with an apostrophe; numbers are unchanged.
//
// Where the decimal sign is a comma, spreadsheets separate cells by semicolons, and read the quotes
// of a comma-separated line as text. So the text after each semicolon, tab or line break inside a
// cell is escaped like a separate cell.
import { type Cell, isTexts, joinTexts } from './cell.js';

interface Table {
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  /** One cell for each column. */
  readonly rows: readonly (readonly Cell[])[];
}

const LINE_END = '\r\n';

/** Most texts: they begin with a letter or a digit, and contain no separators. */
const PLAIN = /^[A-Za-z0-9/][^;\t\r\n]*$/;
const SEPARATOR = /([;\t\r\n])/;
const NUMBER = /^[+-]?\d+(\.\d+)?(e[+-]?\d+)?$/i;
/**
 * Characters that a reader may remove before it looks for a formula: white space, invisible
 * characters, quotes.
 */
const SKIPPED = /^[\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}"]+/u;
const QUOTED = /[",;\t\r\n]|^\s|\s$/;

/** Full-width and small forms count as their ordinary characters, as in spreadsheets. */
function isFormula(text: string): boolean {
  const [first = ''] = text.replace(SKIPPED, '').slice(0, 2).normalize('NFKC');
  return /[=+\-@\u2212]/.test(first);
}

const guard = (text: string): string => (isFormula(text) && !NUMBER.test(text.trim()) ? `'${text}` : text);

function guardText(text: string): string {
  if (PLAIN.test(text)) return text;
  const pieces = text.split(SEPARATOR);
  // The separators are at the odd positions.
  const guarded = pieces.map((piece, index) => (index === 0 || index % 2 === 1 ? piece : guard(piece))).join('');
  // Only a whole number is exempt: `-5` is one, and `-5;=A1` is not.
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

export const formatCsv = (table: Table): string => [...csvLines(table)].join('');

/** One line at a time, because an answer may have tens of megabytes. */
export function* csvLines({ columns, rows }: Table): Generator<string> {
  yield columns.map((column) => toField(column.name, 'text')).join(',') + LINE_END;
  for (const row of rows) {
    yield row.map((cell, index) => toField(cell, columns[index]?.type ?? '')).join(',') + LINE_END;
  }
}
