// The printer: steps, parameters, operators and line breaks.
import { describe, expect, test } from 'vitest';
import { toProjectId } from '../../../../src/platform/ids.js';
import {
  alias,
  allOf,
  anyOf,
  column,
  constant,
  type Expression,
  element,
  equals,
  infix,
  instant,
  instants,
  integer,
  isOneOf,
  lambda,
  rowsOf,
  textValue,
} from '../../../../src/query/plan/expressions.js';
import { fn, quantile } from '../../../../src/query/plan/functions.js';
import { type EventScan, extend, type Join, select, step } from '../../../../src/query/plan/plan.js';
import { print } from '../../../../src/query/print/print.js';

const projectId = toProjectId('00000000-0000-7000-8000-000000000001');
const EVENTS: EventScan = {
  kind: 'events',
  projectId,
  time: { kind: 'exact', ranges: [{ fromMs: 0, toMs: 1000 }] },
  joins: [],
  filter: [],
};

const sqlOf = (expression: Expression): string =>
  print(select({ columns: { it: expression }, from: undefined })).sql.replace(/^SELECT (.*) AS it$/s, '$1');

describe('steps of a statement', () => {
  const first = step('first', select({ columns: { person: column('user_hash') }, from: EVENTS }));

  test('are printed in the order in which they depend on each other', () => {
    const second = step('second', extend(first, { doubled: infix('+', alias('person'), alias('person')) }));
    const { sql, params } = print(select({ columns: { n: fn.count() }, from: second }));
    expect(sql).toBe(`WITH
  first AS (
    SELECT user_hash AS person
    FROM events
    WHERE project_id = {project_id:UUID}
      AND time >= {p1:DateTime64(3, 'UTC')} AND time < {p2:DateTime64(3, 'UTC')}
  ),
  second AS (
    SELECT
      *,
      person + person AS doubled
    FROM first
  )
SELECT count() AS n
FROM second`);
    expect(params).toEqual({
      project_id: projectId,
      p1: '1970-01-01 00:00:00.000',
      p2: '1970-01-01 00:00:01.000',
    });
  });

  test('with equal names are numbered when they differ, and printed once when they are equal', () => {
    const other = step('first', select({ columns: { person: column('device_hash') }, from: EVENTS }));
    const same = step('first', select({ columns: { person: column('user_hash') }, from: EVENTS }));
    const filter = [first, other, same].map((of) => isOneOf(column('user_hash'), rowsOf(of)));
    const { sql } = print(select({ columns: { n: fn.count() }, from: { ...EVENTS, filter } }));
    expect(sql.match(/\w+ AS \(/g)).toEqual(['first AS (', 'first_2 AS (']);
    expect(sql.match(/IN \w+/g)).toEqual(['IN first', 'IN first_2', 'IN first']);
  });

  test('are joined by name', () => {
    const join: Join = { step: first, left: column('device_hash'), right: 'person', others: 'left out' };
    const { sql } = print(select({ columns: { n: fn.count() }, from: { ...EVENTS, joins: [join] } }));
    expect(sql).toContain('FROM events\nINNER JOIN first ON device_hash = person\nWHERE');
  });
});

test('equal values share a parameter', () => {
  const items = [textValue('a'), textValue('b'), textValue('a'), integer(1), instant(1)];
  expect(sqlOf(fn.array(...items))).toBe(
    "array({p1:String}, {p2:String}, {p1:String}, {p3:Int64}, {p4:DateTime64(3, 'UTC')})",
  );
});

test('times are printed from milliseconds', () => {
  const { params } = print(select({ columns: { it: isOneOf(column('time'), instants([0, 1])) }, from: undefined }));
  expect(params).toEqual({ p1: ['1970-01-01 00:00:00.000', '1970-01-01 00:00:00.001'] });
});

test.each<[Expression, string]>([
  [allOf([anyOf([alias('a'), alias('b')]), alias('c')]), '(a OR b) AND c'],
  [anyOf([allOf([alias('a'), alias('b')]), alias('c')]), 'a AND b OR c'],
  [infix('-', alias('a'), infix('-', alias('b'), alias('c'))), 'a - (b - c)'],
  [infix('*', infix('+', alias('a'), constant(1)), alias('b')), '(a + 1) * b'],
  [element(alias('times'), constant(1)), 'times[1]'],
  [quantile(0.5, alias('a')), 'quantileExactInclusive(0.5)(a)'],
  [
    fn.arrayMap(
      lambda(['time', 'next'], (time, next) => equals(time, next)),
      alias('a'),
      alias('b'),
    ),
    'arrayMap((time, next) -> time = next, a, b)',
  ],
  [
    isOneOf(alias('a'), rowsOf(select({ columns: { one: constant(1) }, from: undefined }))),
    'a IN (\n  SELECT 1 AS one\n)',
  ],
])('an expression is printed with the necessary parentheses (%#): %o', (expression, sql) => {
  expect(sqlOf(expression)).toBe(sql);
});

describe('line breaks of a statement', () => {
  const long = (name: string) => alias(name.repeat(40));

  test('break a long expression into one line per part', () => {
    expect(sqlOf(fn.if(equals(long('a'), long('b')), long('c'), constant(0)))).toBe(
      `if(\n  ${'a'.repeat(40)} = ${'b'.repeat(40)},\n  ${'c'.repeat(40)},\n  0\n)`,
    );
  });

  test('keep the length of a statement linear in its nesting', () => {
    const nested = (depth: number): Expression =>
      depth === 0 ? long('a') : fn.if(long('b'), nested(depth - 1), long('c'));
    const [small, large] = [sqlOf(nested(100)).length, sqlOf(nested(200)).length];
    expect(large).toBeLessThan(2.1 * small);
  });
});
