// A fenced table of rows in memory: as many as fit, from an offset on, and how many there are.
import { formatTable } from '../../query/markdown.js';
import type { Answer } from '../shape.js';
import { describeRows } from './call.js';
import { countFitting, fence } from './cut-answer.js';

export interface Listed {
  readonly columns: Answer['columns'];
  /** From the offset on. */
  readonly rows: Answer['rows'];
  readonly total: number;
  readonly offset: number;
  readonly lengthMax: number;
}

/** At least one row, which may be longer. */
export function listRows({ columns, rows, total, offset, lengthMax }: Listed): string {
  const textOf = (some: Answer['rows']) => fence('text', formatTable({ columns, rows: some }, { isCompact: true }));
  const fitting = countFitting(rows, (some) => textOf(some).length <= lengthMax);
  const shown = Math.min(rows.length, Math.max(1, fitting));
  const counted = describeRows({ shown, total }, offset);
  return shown === 0 ? counted : `${counted}\n${textOf(rows.slice(0, shown))}`;
}

export const textColumns = (...names: string[]): Answer['columns'] => names.map((name) => ({ name, type: 'text' }));
