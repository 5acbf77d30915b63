// Oracle: comparison and order of property values of different types.
import { describe, expect, test } from 'vitest';
import type { CompareOperator, Literal } from '../../oracle/question.js';
import { compares, compareText, hasValue, numberOf, type Value } from '../../oracle/values.js';

describe('compares() in the oracle', () => {
  test.each<[Value, CompareOperator, Literal, boolean]>([
    // A number: the numeric bucket, and text that is a number.
    [5, '=', 5, true],
    ['5', '=', 5, true],
    ['5.0', '=', 5, true],
    ['1e1', '=', 10, true],
    [true, '=', 1, false],
    ['five', '=', 5, false],
    [undefined, '=', 5, false],
    // A boolean: the boolean bucket, 1 and 0, and the texts.
    [true, '=', true, true],
    [1, '=', true, true],
    ['true', '=', true, true],
    ['1', '=', true, false],
    [false, '=', false, true],
    [0, '=', false, true],
    ['false', '=', false, true],
    [undefined, '=', false, false],
    // A string: the text form.
    [5, '=', '5', true],
    ['5.0', '=', '5', false],
    [true, '=', 'true', true],
    ['', '=', '', true],
    [null, '=', '', false],
    ['Pro', '=', 'pro', false],
    // Negations match what is missing.
    [undefined, '!=', 5, true],
    [null, '!=', 'a', true],
    ['5', '!=', 5, false],
    [undefined, 'not contains', 'a', true],
    [undefined, '!~', 'a', true],
    [undefined, 'contains', 'a', false],
    [undefined, '~', 'a', false],
    ['pro', 'contains', 'r', true],
    [15, 'contains', '5', true],
    ['pro', '~', '^p.o$', true],
    ['apropos', '~', 'pro', true],
    // Order: with a number the numbers, with another text the texts.
    [5, '>', 4, true],
    ['10', '>', 9, true],
    ['ten', '>', 1, false],
    ['ten', '<', 1, false],
    [true, '>', 0, false],
    [undefined, '<', 1, false],
    ['b', '>', 'a', true],
    [5, '<', 'a', true],
    ['', '<', 'a', true],
    ['10', '>', '9', true],
    [{ instant: 1000 }, '>=', '1970-01-01T00:00:01Z', true],
  ])('%j %s %j is %s', (value, operator, literal, expected) => {
    expect(compares(value, operator, literal)).toBe(expected);
  });
});

test.each<[Value, number | undefined]>([
  [5, 5],
  ['5', 5],
  ['-2.5', -2.5],
  ['1e3', 1000],
  ['', undefined],
  ['inf', undefined],
  ['nan', undefined],
  ['0x10', undefined],
  [' 5', undefined],
  [true, undefined],
  [null, undefined],
])('numberOf(%j) is %j', (value, expected) => expect(numberOf(value)).toBe(expected));

test.each<[Value, boolean]>([
  ['a', true],
  [0, true],
  [false, true],
  ['', false],
  [null, false],
  [undefined, false],
])('hasValue(%j) is %s', (value, expected) => expect(hasValue(value)).toBe(expected));

test('compareText() sorts by code points', () => {
  expect(['b', 'ab', 'a', 'Z', '', '\u{1F600}', '\uFFFD'].sort(compareText)).toEqual([
    '',
    'Z',
    'a',
    'ab',
    'b',
    '\uFFFD',
    '\u{1F600}',
  ]);
});
