// Columns of aggregates in an answer, and words that people write for them: `where sum > 100`
// behind `sum price` means the column `total`.
import { AGGREGATES } from './language.js';

const COLUMNS: ReadonlyMap<string, string> = new Map(
  Object.entries(AGGREGATES).flatMap(([name, row]) => ('column' in row ? [[name, row.column]] : [])),
);
const PEOPLE = ['users', 'people', 'persons', 'visitors'].map((word) => [word, AGGREGATES.unique.column] as const);
const MEANT: ReadonlyMap<string, string> = new Map([...COLUMNS, ...PEOPLE]);

/** The column that a word means; undefined for other words. */
export const metricColumnOf = (word: string): string | undefined => MEANT.get(word);

/** The column of an aggregate that may have a field: `total` of `sum price`. */
export function columnOfAggregate(written: string): string {
  const name = written.trim().split(/\s/)[0]?.toLowerCase() ?? '';
  return COLUMNS.get(name) ?? name;
}

const METRIC_COLUMNS: ReadonlySet<string> = new Set(COLUMNS.values());

export const isMetricColumn = (column: string): boolean => METRIC_COLUMNS.has(column);
