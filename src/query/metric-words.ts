// Words that mean a metric of the answer: `sum price by _country | where sum > 100` means its
// column `total`.
import { AGGREGATES } from './language.js';

const COLUMNS: ReadonlyMap<string, string> = new Map(
  Object.entries(AGGREGATES).flatMap(([name, row]) => ('column' in row ? [[name, row.column]] : [])),
);
const PEOPLE = ['users', 'people', 'persons', 'visitors'].map((word) => [word, AGGREGATES.unique.column] as const);
const MEANT: ReadonlyMap<string, string> = new Map([...COLUMNS, ...PEOPLE]);

/** The column that a word means; undefined for other words. */
export const metricColumnOf = (word: string): string | undefined => MEANT.get(word);

export const isMetricColumn = (column: string): boolean => [...COLUMNS.values()].includes(column);
