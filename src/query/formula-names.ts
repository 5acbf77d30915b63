// Names of the columns of a formula.
import type { FormulaColumn } from './parse/syntax.js';

const VALUE = 'value';

/** A column without a name has that of its text, or is `value` where it is the only one. */
export const formulaNames = (columns: readonly FormulaColumn[]): string[] =>
  columns.map(({ alias, written }) => alias?.text ?? (columns.length === 1 ? VALUE : written));
