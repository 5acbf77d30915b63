// CSV of the answer that is shown: asking again would move the range of `last 7d`.
import { csvLines } from '../../../src/query/csv.js';
import type { Answer } from '../api/answer.js';

/** The bytes that `format: csv` has for this answer. */
export function toCsv({ columns, rows, mode }: Answer): string {
  const type = mode === 'paths' ? 'path' : 'text';
  return [
    ...csvLines({
      columns: columns.map((name) => ({ name, type })),
      rows: rows.map((row) => columns.map((name) => row[name] ?? null)),
    }),
  ].join('');
}
