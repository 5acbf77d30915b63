// Blocks of a funnel: the steps of each value of its breakdown, by the values themselves, because
// a missing value and the text "(none)" have one label.
import { group } from 'd3-array';
import { isCompared, nameOf } from '../answer/columns.js';
import type { Answer, Cell, Row } from '../api/answer.js';

export interface Block {
  readonly key: string;
  /** Empty without a breakdown. */
  readonly label: string;
  readonly cells: readonly (readonly [field: string, value: Cell])[];
  readonly rows: readonly Row[];
}

export function blocksOf(answer: Answer): readonly Block[] {
  const groups = answer.columns
    .slice(0, answer.columns.indexOf('step'))
    .filter((column) => !isCompared(answer, column));
  const cellsOf = (row: Row): Block['cells'] => groups.map((name) => [name, row[name] ?? null] as const);
  return [...group(answer.rows, (row) => JSON.stringify(cellsOf(row)))].map(([key, rows]) => {
    const cells = cellsOf(rows[0] ?? {});
    return { key, label: cells.map(([, cell]) => nameOf(cell)).join(' · '), cells, rows };
  });
}
