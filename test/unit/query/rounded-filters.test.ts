// Filters of rows by rounded numbers keep a row when the number that is shown fulfils them.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Condition, OrderOperator, ResolvedField } from '../../../src/query/analyze/resolved.js';
import { asShown } from '../../../src/query/analyze/rounded-filters.js';
import { roundNumber } from '../../../src/query/round-number.js';

const field: ResolvedField = { kind: 'distinct_id', name: 'total' };
const literal = (value: number) => ({ kind: 'number', value, text: String(value) }) as const;
const order = (operator: OrderOperator, value: number): Condition => ({
  kind: 'order',
  field,
  operator,
  value: literal(value),
});
const oneOf = (...values: number[]): Condition => ({ kind: 'one_of', field, values: values.map(literal) });

const COMPARE: Readonly<Record<OrderOperator, (a: number, b: number) => boolean>> = {
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
};

/** Whether the engine keeps a row with this number. */
function holds(condition: Condition, number: number): boolean {
  switch (condition.kind) {
    case 'and':
      return condition.items.every((item) => holds(item, number));
    case 'or':
      return condition.items.some((item) => holds(item, number));
    case 'not':
      return !holds(condition.item, number);
    case 'order':
      if (condition.value.kind !== 'number') throw new Error('no number');
      return COMPARE[condition.operator](number, condition.value.value);
    case 'one_of':
      return condition.values.some((value) => value.kind === 'number' && value.value === number);
    default:
      throw new Error(condition.kind);
  }
}

const keeps = (condition: Condition, number: number): boolean => holds(asShown(condition, ['total']), number);

test.each([
  [0.1 + 0.7, 0.8],
  [19.99 + 0.01, 20],
  [1.1 + 2.2, 3.3],
  [-0.1 - 0.7, -0.8],
  [0.99999999999999, 1],
  [1.00000000000001, 1],
])('%d is compared as %d, as which it is shown', (number, shown) => {
  expect(keeps(oneOf(shown), number)).toBe(true);
  expect(keeps(oneOf(5, shown), number)).toBe(true);
  expect(keeps({ kind: 'not', item: oneOf(shown) }, number)).toBe(false);
  expect(keeps(order('>=', shown), number)).toBe(true);
  expect(keeps(order('<=', shown), number)).toBe(true);
  expect(keeps(order('>', shown), number)).toBe(false);
  expect(keeps(order('<', shown), number)).toBe(false);
});

test('whole numbers, zero, large numbers and other columns are compared as they are', () => {
  for (const value of [0, 1e13, 2 ** 53, 0.1 + 0.2]) expect(asShown(oneOf(value), ['total'])).toEqual(oneOf(value));
  expect(asShown(oneOf(0.8), ['average'])).toEqual(oneOf(0.8));
  for (const number of [19, 21, 9_999_999_999_999]) {
    expect(keeps(order('>', 20), number)).toBe(number > 20);
    expect(keeps(oneOf(9_999_999_999_998), number)).toBe(false);
  }
});

test('a row is kept when the shown number fulfils the condition, whatever the number', () => {
  const digits = fc.oneof(fc.integer({ min: -1000, max: 1000 }), fc.integer({ min: -9e12, max: 9e12 }));
  const shown = fc.tuple(digits, fc.integer({ min: -25, max: 0 })).map(([all, by]) => roundNumber(all * 10 ** by));
  // Few units of the last place beside it, or a digit that is not shown.
  const offset = fc.oneof(
    fc.integer({ min: -6, max: 6 }).map((ulps) => ulps * Number.EPSILON),
    fc.double({ min: -4e-13, max: 4e-13, noNaN: true }),
  );
  fc.assert(
    fc.property(shown, offset, fc.constantFrom<OrderOperator>('<', '<=', '>', '>='), (limit, part, operator) => {
      const number = limit * (1 + part);
      // A number in the middle of two shown ones is rounded by its digits beyond those of a double.
      const isMiddle = roundNumber(number * (1 + 2e-16)) !== roundNumber(number * (1 - 2e-16));
      fc.pre(Number.isFinite(number) && !isMiddle);
      expect(keeps(order(operator, limit), number)).toBe(COMPARE[operator](roundNumber(number), limit));
      expect(keeps(oneOf(limit), number)).toBe(roundNumber(number) === limit);
    }),
    { numRuns: 2_000 },
  );
});
