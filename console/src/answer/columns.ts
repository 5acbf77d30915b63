// What the columns of an answer contain, and their cells as text.
import { isShare } from '../../../src/query/shares.js';
import type { Answer, Cell, Row } from '../api/answer.js';
import { texts } from '../texts.js';
import { cycleLabel, cycleUnitOf, longLabel, timeUnitOf } from './buckets.js';
import { readChoice } from './choice-result.js';
import { change, day, duration, exact, instant, percent } from './format.js';

export type ColumnKind =
  | 'number'
  | 'share'
  | 'percent'
  | 'seconds'
  | 'change'
  | 'bucket'
  | 'cycle'
  | 'edge'
  | 'date'
  | 'time'
  | 'path'
  | 'text';

const SECONDS: Readonly<Record<string, readonly string[]>> = {
  funnel: ['median_seconds'],
  sessions: ['avg_duration'],
};
const DATES: Readonly<Record<string, string>> = { retention: 'cohort', lifecycle: 'period', sessions: 'day' };
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;

const PREVIOUS = /^previous(?:_|$)/;
const CHANGE = /^change(?:_|$)/;

/** Whether `compare` added the column: the value of the earlier range, or the change since then. */
export const isCompared = ({ metadata }: Answer, column: string): boolean =>
  metadata?.compare !== undefined && (PREVIOUS.test(column) || CHANGE.test(column));

/** The column with the values of the earlier range beside those of `column`. */
export const previousOf = (answer: Answer, column: string): string | undefined =>
  [`previous_${column}`, 'previous'].find((name) => isCompared(answer, name) && answer.columns.includes(name));

function kindOf(answer: Answer, column: string): ColumnKind {
  const { mode, rows } = answer;
  if (isCompared(answer, column)) {
    if (CHANGE.test(column)) return 'change';
    return column === 'previous' ? 'number' : kindOf(answer, column.replace(PREVIOUS, ''));
  }
  if (isShare(mode, column, readChoice(answer)?.method.value !== undefined)) return 'share';
  if (SECONDS[mode]?.includes(column)) return 'seconds';
  if (column === 'coverage' && (mode === 'fields' || mode === 'inspect')) return 'percent';
  if (DATES[mode] === column) return 'date';
  if (mode === 'paths' && column === 'path') return 'path';
  if (timeUnitOf(column) !== undefined && mode !== 'users') return 'bucket';
  if (cycleUnitOf(column) !== undefined) return 'cycle';
  const kind = kindOfCells(rows, column);
  return kind === 'number' && EDGES.includes(column) ? 'edge' : kind;
}

/** Groups that are numbers: the lower edges of `bucket(…)`, and the numeric fields of events. */
const EDGES: readonly string[] = ['bucket', '_geo_latitude', '_geo_longitude'];

/** By all cells that are present. Without copies: an answer has up to 10,000 rows. */
function kindOfCells(rows: readonly Row[], column: string): ColumnKind {
  let kind: ColumnKind | undefined;
  for (const row of rows) {
    const cell = row[column];
    if (cell === null || cell === undefined) continue;
    const own = typeof cell === 'number' ? 'number' : typeof cell === 'string' && INSTANT.test(cell) ? 'time' : 'text';
    if (own === 'text' || (kind !== undefined && kind !== own)) return 'text';
    kind = own;
  }
  return kind ?? 'text';
}

export const isNumeric = (kind: ColumnKind): boolean =>
  ['number', 'share', 'percent', 'seconds', 'change'].includes(kind);

export interface ShownColumn {
  readonly name: string;
  readonly kind: ColumnKind;
}

export const columnsOf = (answer: Answer): readonly ShownColumn[] =>
  answer.columns.map((name) => ({ name, kind: kindOf(answer, name) }));

const PLACES: Readonly<Record<string, number>> = { time: -1, insert_id: 1 };

/**
 * A list of events that names no columns begins with the key of its rows. Shown, it begins with the
 * time and ends with that key.
 */
export function inReadingOrder(columns: readonly ShownColumn[]): readonly ShownColumn[] {
  const isWhole = columns[0]?.name === 'insert_id' && columns.some(({ name }) => name === 'user_properties');
  const placeOf = ({ name }: ShownColumn): number => PLACES[name] ?? 0;
  return isWhole ? [...columns].sort((a, b) => placeOf(a) - placeOf(b)) : columns;
}

/** Without those that `compare` adds. */
export const ownColumnsOf = (answer: Answer): readonly ShownColumn[] =>
  columnsOf(answer).filter(({ name }) => !isCompared(answer, name));

/** A value of a group, which is never blank. */
export const nameOf = (cell: Cell | undefined): string =>
  cell === '' ? texts.answer.emptyText : String(cell ?? texts.answer.none);

export function showCell({ name, kind }: ShownColumn, cell: Cell | undefined, timeZone: string): string {
  if (cell === null || cell === undefined) return isNumeric(kind) ? '–' : texts.answer.none;
  if (cell === '') return texts.answer.emptyText;
  if (typeof cell === 'number') return showNumber(kind, cell, name);
  if (Array.isArray(cell)) return cell.join(kind === 'path' ? ' → ' : ' · ');
  if (typeof cell === 'object') return JSON.stringify(cell);
  if (typeof cell === 'boolean') return String(cell);
  if (kind === 'bucket') return longLabel(timeUnitOf(name.replace(PREVIOUS, '')) ?? 'day', cell, timeZone);
  if (kind === 'date') return day(cell);
  return kind === 'time' ? instant(cell, timeZone) : cell;
}

export function showNumber(kind: ColumnKind, value: number, name = ''): string {
  switch (kind) {
    case 'share':
      return percent(value);
    case 'percent':
      return percent(value / 100);
    case 'seconds':
      return duration(value);
    case 'change':
      return change(value);
    case 'cycle':
      return cycleLabel(cycleUnitOf(name) ?? 'weekday', value);
    default:
      return exact(value);
  }
}

/** Columns that groups have, and the first of the columns that hold numbers about them. */
export function splitColumns(answer: Answer): {
  readonly groups: readonly ShownColumn[];
  readonly measure: ShownColumn;
} {
  const columns = ownColumnsOf(answer);
  let first = columns.length - 1;
  while (first > 0 && columns[first - 1]?.kind === 'number') first -= 1;
  return { groups: columns.slice(0, first), measure: columns[first] ?? { name: 'value', kind: 'number' } };
}

export const numberIn = (row: Row, column: string): number | null => {
  const cell = row[column];
  return typeof cell === 'number' ? cell : null;
};
