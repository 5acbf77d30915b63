// Compares the service's answer with the oracle's. Order must match where the specification fixes
// it, floating-point numbers may differ by a billionth, and instants may have any RFC 3339 format
// in UTC.
import type { Answer, Row } from './table.js';

/** The service's answer as parsed JSON, with a `limit` above the number of rows. */
export interface ServiceAnswer {
  readonly columns: readonly string[];
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  readonly total?: number;
  readonly mode?: string;
  readonly [beside: string]: unknown;
}

export interface ComparisonOptions {
  /** Requires the oracle's order of rows, also where the specification leaves it open. */
  readonly strictOrder?: boolean;
}

const TOLERANCE = 1e-9;
const SHOWN = 12;

/** The difference as text; undefined when the answers agree. */
export function differenceOf(
  service: ServiceAnswer,
  oracle: Answer,
  options: ComparisonOptions = {},
): string | undefined {
  if (!isAlike(service.columns, oracle.columns)) {
    return `columns: the service has ${JSON.stringify(service.columns)}, the oracle ${JSON.stringify(oracle.columns)}`;
  }
  if (service.mode !== undefined && service.mode !== oracle.mode) {
    return `mode: the service says ${service.mode}, the oracle ${oracle.mode}`;
  }
  const concerned = service.rows.filter((row) => oracle.concerns?.(row as Row) ?? true);
  if (oracle.concerns === undefined && service.total !== undefined && service.total !== oracle.rows.length) {
    return `total: the service says ${service.total}, the oracle ${oracle.rows.length}\n${bothSides(concerned, oracle)}`;
  }
  return rowsDifference(concerned, oracle, options) ?? besideDifference(service, oracle);
}

/** Throws with the difference. */
export function expectSameAnswer(service: ServiceAnswer, oracle: Answer, options: ComparisonOptions = {}): void {
  const difference = differenceOf(service, oracle, options);
  if (difference !== undefined) throw new Error(difference);
}

function rowsDifference(
  rows: readonly Readonly<Record<string, unknown>>[],
  oracle: Answer,
  { strictOrder = false }: ComparisonOptions,
): string | undefined {
  if (rows.length !== oracle.rows.length) {
    return `the service has ${rows.length} rows, the oracle ${oracle.rows.length}\n${bothSides(rows, oracle)}`;
  }
  for (const [first, past] of blocksOf(oracle.ranks, strictOrder)) {
    const isLast = past === oracle.rows.length;
    const allowed = [...oracle.rows.slice(first, past), ...(isLast && !strictOrder ? oracle.spare : [])];
    for (const [offset, row] of rows.slice(first, past).entries()) {
      const match = allowed.findIndex((candidate) => isSameRow(row, candidate, oracle));
      if (match === -1) return unexpected(first + offset, row, allowed, { rows, oracle });
      allowed.splice(match, 1);
    }
  }
  return undefined;
}

/** Ranges of rows whose order is open. */
function blocksOf(ranks: readonly number[], strictOrder: boolean): [number, number][] {
  const blocks: [number, number][] = [];
  for (const [index, rank] of ranks.entries()) {
    const block = blocks.at(-1);
    if (block !== undefined && !strictOrder && ranks[block[0]] === rank) block[1] = index + 1;
    else blocks.push([index, index + 1]);
  }
  return blocks;
}

function unexpected(
  index: number,
  row: Readonly<Record<string, unknown>>,
  allowed: readonly Row[],
  sides: { rows: readonly Readonly<Record<string, unknown>>[]; oracle: Answer },
): string {
  const wanted = allowed.map((candidate) => JSON.stringify(candidate));
  const differing = sides.oracle.columns.filter((column) =>
    allowed.every((candidate) => !isSameCell(row, candidate, column, sides.oracle)),
  );
  const where = differing.length === 0 ? '' : ` (${differing.join(', ')})`;
  return [
    `row ${index + 1} differs${where}`,
    `  service: ${JSON.stringify(row)}`,
    `  oracle:  ${wanted.slice(0, SHOWN).join('\n       or  ')}`,
    bothSides(sides.rows, sides.oracle),
  ].join('\n');
}

function bothSides(rows: readonly object[], oracle: Answer): string {
  const shown = (side: readonly object[]) =>
    side
      .slice(0, SHOWN)
      .map((row) => `    ${JSON.stringify(row)}`)
      .concat(side.length > SHOWN ? [`    … ${side.length - SHOWN} more`] : [])
      .join('\n');
  return `  all of the service:\n${shown(rows)}\n  all of the oracle:\n${shown(oracle.rows)}`;
}

/** A row that has `value` and `metric` in the oracle must have both in the service's answer. */
function isSameRow(service: Readonly<Record<string, unknown>>, oracle: Row, answer: Answer): boolean {
  const carried = 'metric' in oracle ? ['value', 'metric'] : [];
  return [...answer.columns, ...carried].every((column) => isSameCell(service, oracle, column, answer));
}

function isSameCell(service: Readonly<Record<string, unknown>>, oracle: Row, column: string, answer: Answer): boolean {
  if (!Object.hasOwn(service, column)) return false;
  if (answer.open?.includes(column)) return true;
  const [found, wanted] = [service[column], oracle[column]];
  return answer.asText?.includes(column) ? String(found) === String(wanted) : isAlike(found, wanted);
}

function besideDifference(service: ServiceAnswer, oracle: Answer): string | undefined {
  for (const [name, wanted] of Object.entries(oracle.beside ?? {})) {
    if (!includes(service[name], wanted)) {
      return `${name}: the service has ${JSON.stringify(service[name])}, the oracle ${JSON.stringify(wanted)}`;
    }
  }
  return undefined;
}

/** The service's object may have additional keys. */
function includes(found: unknown, wanted: unknown): boolean {
  if (!isPlainObject(wanted)) return isAlike(found, wanted);
  return isPlainObject(found) && Object.entries(wanted).every(([key, value]) => includes(found[key], value));
}

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)$/;

export function isAlike(found: unknown, wanted: unknown): boolean {
  if (typeof found === 'number' && typeof wanted === 'number') return isClose(found, wanted);
  if (typeof found === 'string' && typeof wanted === 'string') {
    if (found === wanted) return true;
    return INSTANT.test(found) && INSTANT.test(wanted) && Date.parse(found) === Date.parse(wanted);
  }
  if (Array.isArray(found) && Array.isArray(wanted)) {
    return found.length === wanted.length && found.every((item, index) => isAlike(item, wanted[index]));
  }
  if (isPlainObject(found) && isPlainObject(wanted)) {
    const keys = Object.keys(wanted);
    return (
      Object.keys(found).length === keys.length &&
      keys.every((key) => Object.hasOwn(found, key) && isAlike(found[key], wanted[key]))
    );
  }
  return found === wanted;
}

function isClose(found: number, wanted: number): boolean {
  return Math.abs(found - wanted) <= TOLERANCE * Math.max(1, Math.abs(found), Math.abs(wanted));
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
