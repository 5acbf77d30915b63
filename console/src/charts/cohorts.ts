// Cohorts of a retention: the row of each period by its number, for every value of the breakdown.
import { group } from 'd3-array';
import { nameOf, numberIn, ownColumnsOf } from '../answer/columns.js';
import { day } from '../answer/format.js';
import type { Answer, Row } from '../api/answer.js';

export interface Cohort {
  readonly key: string;
  readonly label: string;
  readonly size: number;
  readonly cells: ReadonlyMap<number, Row>;
}

const FIGURES = ['cohort', 'cohort_size', 'period', 'users', 'rate'];

const groupsOf = (answer: Answer): readonly string[] =>
  ownColumnsOf(answer)
    .map(({ name }) => name)
    .filter((name) => !FIGURES.includes(name));

const cellsOf = (row: Row, names: readonly string[]): string => JSON.stringify(names.map((name) => row[name] ?? null));

/** By the values of the breakdown, because a missing one and the text "(none)" have one label. */
export function cohortsOf(answer: Answer): readonly Cohort[] {
  const groups = groupsOf(answer);
  return [...group(answer.rows, (row) => cellsOf(row, [...groups, 'cohort']))].map(([key, rows]) => {
    const [first = {}] = rows;
    const names = groups.map((name) => nameOf(first[name]));
    return {
      key,
      label: [day(String(first.cohort)), ...names].join(' · '),
      size: numberIn(first, 'cohort_size') ?? 0,
      cells: new Map(rows.map((row) => [numberIn(row, 'period') ?? 0, row])),
    };
  });
}

export interface Average {
  readonly size: number;
  readonly users: number;
}

/**
 * People of the cohorts whose period is over, and those of them who returned in it; undefined
 * without such a cohort. The share of all of them is the average of the shares, weighted by size.
 */
export function averageAt(
  cohorts: readonly Cohort[],
  period: number,
  isIncomplete: (row: Row) => boolean,
): Average | undefined {
  const complete = cohorts.flatMap(({ size, cells }) => {
    const row = cells.get(period);
    const users = row === undefined || isIncomplete(row) ? null : numberIn(row, 'users');
    return users === null ? [] : [{ size, users }];
  });
  const size = complete.reduce((sum, cohort) => sum + cohort.size, 0);
  return size === 0 ? undefined : { size, users: complete.reduce((sum, cohort) => sum + cohort.users, 0) };
}

/** Whether the period of a row is not over. */
export function incompleteIn(answer: Answer): (row: Row) => boolean {
  const names = [...groupsOf(answer), 'cohort', 'period'];
  const incomplete = new Set((answer.metadata.incomplete ?? []).map((row) => cellsOf(row, names)));
  return (row) => incomplete.has(cellsOf(row, names));
}
