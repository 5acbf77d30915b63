// Whether an answer found nothing: it has no rows, counts zeros only, or has no value in any row. A
// sum or an average of zero is a result.
import type { Answer } from '../api/answer.js';
import { numberIn, splitColumns } from './columns.js';

/** Columns that count people or visits, by mode. */
const COUNTING: Readonly<Record<string, string>> = {
  ...{ funnel: 'users', stickiness: 'users', lifecycle: 'users', sessions: 'sessions' },
};
const COUNTS = ['count', 'unique_count', ...Object.values(COUNTING)];

export function isEmpty(answer: Answer): boolean {
  const { rows, total, mode, columns } = answer;
  if (rows.length === 0) return true;
  // The rows that are not there may have counted something.
  if (rows.length < total) return false;
  const counting = COUNTING[mode];
  // A measure of sessions has the columns of an aggregate.
  const isAggregate = mode === 'aggregate' || (mode === 'sessions' && !columns.includes('sessions'));
  const column = isAggregate ? splitColumns(answer).measure.name : counting;
  if (column === undefined || !columns.includes(column)) return false;
  const nothing = COUNTS.includes(column) ? 0 : null;
  return rows.every((row) => (numberIn(row, column) ?? nothing) === nothing);
}
