// Conditions of alerts: `value < 5`, `change < -0.3`, `all "sum price" >= 10`, `no rows`. Pure:
// parsed and checked against the columns of the query when a document is saved, and evaluated on
// the rows of an answer.
import { numberOfCell } from '../platform/number-text.js';
import { findNearest, quote } from '../query/errors.js';
import type { OutputColumn } from '../query/plan/plan.js';

const COMPARISONS = {
  '<': (value: number, limit: number) => value < limit,
  '<=': (value: number, limit: number) => value <= limit,
  '>': (value: number, limit: number) => value > limit,
  '>=': (value: number, limit: number) => value >= limit,
  '=': (value: number, limit: number) => value === limit,
  '!=': (value: number, limit: number) => value !== limit,
} as const;
export type Operator = keyof typeof COMPARISONS;

export interface Comparison {
  readonly kind: 'comparison';
  /** Whether one row suffices. An answer without rows never fulfills a comparison. */
  readonly rows: 'any' | 'all';
  readonly column: string;
  /** Position of the column in the text. */
  readonly columnAt: number;
  readonly operator: Operator;
  readonly limit: number;
}

export type When = Comparison | { readonly kind: 'no_rows' };

/** `offset`: UTF-16 units from the start of the condition. */
export interface WhenProblem {
  readonly message: string;
  readonly hint: string;
  readonly offset: number;
}

export type ParsedWhen = { readonly when: When } | { readonly problem: WhenProblem };

const FORM = 'a condition is value < 5, change < -0.3, all value >= 10, or no rows';
const ROWS = /^(?<word>any|all)\s+(?=[^\s<>=!])/i;
const COLUMN = /^(?:"(?<quoted>[^"]*)"|(?<bare>[^\s<>=!"]+))/;
const OPERATOR = /^(?:<=|>=|!=|<|>|=)(?![<>=!])/;
const NUMBER = /^[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?$/;

export function parseWhen(text: string): ParsedWhen {
  if (/^\s*no\s+rows\s*$/i.test(text)) return { when: { kind: 'no_rows' } };
  let at = 0;
  const skipBlanks = (): void => {
    at += /^\s*/.exec(text.slice(at))?.[0].length ?? 0;
  };
  const take = (pattern: RegExp): RegExpExecArray | undefined => {
    const found = pattern.exec(text.slice(at)) ?? undefined;
    at += found?.[0].length ?? 0;
    return found;
  };
  const wrong = (message: string, hint = FORM, offset = at): ParsedWhen => ({ problem: { message, hint, offset } });

  skipBlanks();
  const rows = take(ROWS)?.groups?.word?.toLowerCase() === 'all' ? 'all' : 'any';
  const columnAt = at;
  const named = take(COLUMN);
  const column = named?.groups?.quoted ?? named?.groups?.bare;
  if (column === undefined || column === '') return wrong('the condition names no column', FORM, columnAt);
  skipBlanks();
  const operator = take(OPERATOR)?.[0];
  if (operator === undefined) {
    const found = text.slice(at).trim();
    const message = found === '' ? 'the condition has no comparison' : `${quote(found)} is no comparison`;
    return wrong(message, `after the column comes one of ${Object.keys(COMPARISONS).join(' ')} and a number`);
  }
  skipBlanks();
  const number = text.slice(at).trim();
  if (NUMBER.test(number)) {
    const limit = Number(number);
    if (!Number.isFinite(limit)) {
      return wrong(`the number ${quote(number)} is too large`, 'numbers are 64-bit floating point');
    }
    return { when: { kind: 'comparison', rows, column, columnAt, operator: operator as Operator, limit } };
  }
  if (number === '') return wrong('the condition has no number to compare with');
  const share = /^([+-]?\d+(?:\.\d+)?)\s*%$/.exec(number)?.[1];
  return wrong(`${quote(number)} is no number`, share === undefined ? FORM : `write ${Number(share) / 100}`);
}

/** What a condition may name: the columns of a query, and whether one of them is its `value`. */
export interface NamedColumns {
  readonly columns: readonly Pick<OutputColumn, 'name' | 'type'>[];
  readonly metric: unknown;
}

const ADDED_BY_COMPARE = /^(?:change|previous)/;
const COMPARE = 'add | compare previous to the query, which gives it the columns previous and change';
const NUMERIC: readonly string[] = ['number', 'rate'];

/** Undefined when the query has the column, with numbers in it. */
export function checkColumn(when: When, { columns, metric }: NamedColumns): WhenProblem | undefined {
  if (when.kind === 'no_rows') return undefined;
  const { column, columnAt: offset } = when;
  if (column === 'value' && metric !== undefined) return undefined;
  const found = columns.find(({ name }) => name === column);
  const usable = [
    ...(metric === undefined ? [] : ['value']),
    ...columns.filter(({ type }) => NUMERIC.includes(type)).map(({ name }) => name),
  ];
  const all = usable.length === 0 ? 'it has none with numbers: write no rows' : `it is one of ${usable.join(', ')}`;
  if (found === undefined) {
    const nearest = findNearest(column, usable);
    const hint = ADDED_BY_COMPARE.test(column) && !usable.some((name) => ADDED_BY_COMPARE.test(name)) ? COMPARE : all;
    const message = `the query has no column ${quote(column)}`;
    return { message, hint: nearest === undefined ? hint : `nearest is "${nearest}"`, offset };
  }
  if (NUMERIC.includes(found.type)) return undefined;
  return { message: `the column ${quote(column)} has no numbers`, hint: all, offset };
}

/** A row of an answer in the format `json`. */
export type Row = Readonly<Record<string, unknown>>;

export interface Verdict {
  readonly isMet: boolean;
  /**
   * The number of the first row that fulfills the condition, else of the first row; null when it
   * has none, and for `no rows`.
   */
  readonly value: number | null;
  /** The rows that fulfill the condition. */
  readonly rows: readonly Row[];
}

/** A missing number fulfills no comparison. */
export function evaluate(when: When, rows: readonly Row[]): Verdict {
  if (when.kind === 'no_rows') return { isMet: rows.length === 0, value: null, rows: [] };
  const numberOf = (row: Row | undefined): number | null => numberOfCell(row?.[when.column]);
  const met = rows.filter((row) => {
    const value = numberOf(row);
    return value !== null && COMPARISONS[when.operator](value, when.limit);
  });
  const isMet = when.rows === 'any' ? met.length > 0 : rows.length > 0 && met.length === rows.length;
  return { isMet, value: numberOf(met[0] ?? rows[0]), rows: met };
}

/** The condition in its shortest form: `change < -0.3`. */
export function formatWhen(when: When): string {
  if (when.kind === 'no_rows') return 'no rows';
  const column = /^[^\s<>=!"]+$/.test(when.column) ? when.column : `"${when.column}"`;
  return `${when.rows === 'all' ? 'all ' : ''}${column} ${when.operator} ${when.limit}`;
}
