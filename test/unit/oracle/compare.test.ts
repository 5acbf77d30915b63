// Comparison of an answer of the service with that of the oracle: exact, with equal ranks, and with
// tolerance for floats.
import { describe, expect, test } from 'vitest';
import { differenceOf, expectSameAnswer, isAlike } from '../../oracle/compare.js';
import { type Answer, descending, inThisOrder, limited, ordered, type Row } from '../../oracle/table.js';

const ROWS: Row[] = [
  { name: 'a', n: 3 },
  { name: 'b', n: 2 },
  { name: 'c', n: 2 },
  { name: 'd', n: 2 },
];
const COLUMNS = ['name', 'n'];
const exact: Answer = { mode: 'aggregate', columns: COLUMNS, ...inThisOrder(ROWS) };
/** Sorted by `n`, in any order of equal rows. */
const byNumber: Answer = { mode: 'aggregate', columns: COLUMNS, ...limited(ordered(ROWS, descending('n')), 3) };
const serve = (...names: string[]) => ({
  columns: COLUMNS,
  rows: names.map((name) => ROWS.find((row) => row.name === name) ?? {}),
});

describe('differenceOf() of rows', () => {
  test.each<[string, Answer, string[], boolean]>([
    ['that are equal agree', exact, ['a', 'b', 'c', 'd'], true],
    ['in another order differ where it is fixed', exact, ['a', 'c', 'b', 'd'], false],
    ['in another order agree where it is open', byNumber, ['a', 'c', 'b'], true],
    ['may be any of the equal rows at a limit', byNumber, ['a', 'd', 'c'], true],
    ['may not be repeated', byNumber, ['a', 'c', 'c'], false],
    ['may not change their rank', byNumber, ['b', 'a', 'c'], false],
    ['may not be missing', exact, ['a', 'b', 'c'], false],
    ['may not be additional', byNumber, ['a', 'b', 'c', 'd'], false],
  ])('%s', (_rule, oracle, names, expected) => {
    expect(differenceOf(serve(...names), oracle) === undefined).toBe(expected);
  });

  test('requires the exact order with strictOrder', () => {
    expect(differenceOf(serve('a', 'c', 'b'), byNumber, { strictOrder: true })).toContain('row 2 differs (name)');
  });

  test('ignores rows that the oracle does not cover', () => {
    const partial: Answer = { ...exact, rows: ROWS.slice(0, 1), ranks: [0], concerns: (row) => row.name === 'a' };
    expect(differenceOf(serve('a', 'b'), partial)).toBeUndefined();
  });

  test('compares value and metric if the oracle has them', () => {
    const counted: Answer = {
      mode: 'aggregate',
      columns: ['count'],
      ...inThisOrder([{ count: 1, value: 1, metric: 'count' }]),
    };
    expect(differenceOf({ columns: ['count'], rows: [{ count: 1 }] }, counted)).toContain('row 1 differs');
    expect(
      differenceOf({ columns: ['count'], rows: [{ count: 1, value: 1, metric: 'count' }] }, counted),
    ).toBeUndefined();
  });
});

test('open columns must exist and may contain anything', () => {
  const open: Answer = {
    mode: 'fields',
    columns: ['field', 'type'],
    open: ['type'],
    ...inThisOrder([{ field: 'a', type: null }]),
  };
  expect(differenceOf({ columns: ['field', 'type'], rows: [{ field: 'a', type: 'text' }] }, open)).toBeUndefined();
  expect(differenceOf({ columns: ['field', 'type'], rows: [{ field: 'a' }] }, open)).toContain('(type)');
});

test('differenceOf() compares columns, mode and total', () => {
  expect(differenceOf({ columns: ['n', 'name'], rows: [] }, exact)).toContain('columns');
  expect(differenceOf({ ...serve('a', 'b', 'c', 'd'), mode: 'list' }, exact)).toContain('mode');
  expect(differenceOf({ ...serve('a', 'b', 'c', 'd'), total: 5 }, exact)).toContain('total');
});

test('differenceOf() compares the fields beside the rows and allows additional keys', () => {
  const beside: Answer = { ...exact, beside: { diagnostics: { units: 2 } } };
  const served = serve('a', 'b', 'c', 'd');
  expect(differenceOf({ ...served, diagnostics: { units: 2, other: 1 } }, beside)).toBeUndefined();
  expect(differenceOf({ ...served, diagnostics: { units: 3 } }, beside)).toContain('diagnostics');
});

test('expectSameAnswer() names the row, the column and both values', () => {
  const rows = [{ name: 'a', n: 4 }, ...ROWS.slice(1)];
  expect(() => expectSameAnswer({ columns: COLUMNS, rows }, exact)).toThrow(
    /row 1 differs \(n\)\n {2}service: {"name":"a","n":4}\n {2}oracle: {2}{"name":"a","n":3}/,
  );
});

test.each([
  [0.1 + 0.2, 0.3, true],
  [1e12 + 1, 1e12, true],
  [1.00001, 1, false],
  ['2026-11-20T09:30:00Z', '2026-11-20T09:30:00.000Z', true],
  ['2026-11-20T09:30:00Z', '2026-11-20T09:30:00.001Z', false],
  ['5', 5, false],
  [null, 0, false],
  [['a', 'b'], ['a', 'b'], true],
  [['a', 'b'], ['b', 'a'], false],
  [{ a: 1, b: null }, { b: null, a: 1 }, true],
  [{ a: 1 }, { a: 1, b: null }, false],
  [{ a: 1 }, { a: '1' }, false],
])('isAlike(%j, %j) is %s', (found, wanted, expected) => expect(isAlike(found, wanted)).toBe(expected));
