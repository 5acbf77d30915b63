import { describe, expect, test } from 'vitest';
import { checkColumn, evaluate, formatWhen, parseWhen, type Row, type When } from '../../../src/alerts/when.js';

function when(text: string): When {
  const parsed = parseWhen(text);
  if ('problem' in parsed) throw new Error(parsed.problem.message);
  return parsed.when;
}

const problemOf = (text: string) => {
  const parsed = parseWhen(text);
  return 'problem' in parsed ? parsed.problem : undefined;
};

describe('a condition', () => {
  test.each([
    ['value < 5', 'value < 5'],
    ['  value<5 ', 'value < 5'],
    ['change < -0.3', 'change < -0.3'],
    ['any value >= .5', 'value >= 0.5'],
    ['ALL value != 0', 'all value != 0'],
    ['"sum price" = 10', '"sum price" = 10'],
    ['all "sum price" <= +10', 'all "sum price" <= 10'],
    ['any < 3', 'any < 3'],
    ['all value < 1e3', 'all value < 1000'],
    ['value > -2.5E+20', 'value > -250000000000000000000'],
    ['value >= 1e21', 'value >= 1e+21'],
    ['no rows', 'no rows'],
    [' No  Rows ', 'no rows'],
  ])('%j is read as %j', (text, form) => expect(formatWhen(when(text))).toBe(form));

  test.each([
    ['', 'the condition names no column', 0],
    ['< 5', 'the condition names no column', 0],
    ['value', 'the condition has no comparison', 5],
    ['value is 5', '"is 5" is no comparison', 6],
    ['value == 5', '"== 5" is no comparison', 6],
    ['value <> 5', '"<> 5" is no comparison', 6],
    ['value <', 'the condition has no number to compare with', 7],
    ['value < five', '"five" is no number', 8],
    ['value < 5 and change < 1', '"5 and change < 1" is no number', 8],
    ['all value < 1e', '"1e" is no number', 12],
    ['value < -1e400', 'the number "-1e400" is too large', 8],
  ])('%j is wrong: %s', (text, message, offset) => expect(problemOf(text)).toMatchObject({ message, offset }));

  test('with a percentage gets the number to write instead', () => {
    expect(problemOf('change < -30%')).toMatchObject({ message: '"-30%" is no number', hint: 'write -0.3' });
  });
});

describe('the column of a condition', () => {
  const query = {
    columns: [
      { name: 'country', type: 'text' as const },
      { name: 'orders', type: 'number' as const },
      { name: 'share', type: 'rate' as const },
    ],
    metric: { name: 'orders', column: 'orders' },
  };

  test.each(['value < 5', 'orders < 5', 'share < 0.5', 'no rows'])('%s is one of the query', (text) =>
    expect(checkColumn(when(text), query)).toBeUndefined(),
  );
  test.each([
    ['order < 5', 'the query has no column "order"', 'nearest is "orders"'],
    ['all nonsense < 5', 'the query has no column "nonsense"', 'it is one of value, orders, share'],
    ['country = 5', 'the column "country" has no numbers', 'it is one of value, orders, share'],
    ['change < -0.3', 'the query has no column "change"', expect.stringContaining('add | compare previous')],
  ])('%s: %s', (text, message, hint) => expect(checkColumn(when(text), query)).toMatchObject({ message, hint }));

  test('is not explained by compare in a query that compares', () => {
    const compared = { columns: [{ name: 'change_rate', type: 'number' as const }], metric: undefined };
    expect(checkColumn(when('change < -0.3'), compared)?.hint).toContain('change_rate');
  });

  test('is located after any and all', () => expect(checkColumn(when('all order < 5'), query)?.offset).toBe(4));
  test('cannot be value in a query without a metric', () =>
    expect(checkColumn(when('value < 5'), { ...query, metric: undefined })).toMatchObject({
      hint: 'it is one of orders, share',
    }));
});

describe('an answer', () => {
  const rows = (...values: unknown[]): Row[] => values.map((value) => ({ value }));

  test.each<[string, Row[], boolean, number | null]>([
    ['value < 5', rows(4), true, 4],
    ['value < 5', rows(5), false, 5],
    ['value < 5', rows(9, 3, 1), true, 3],
    ['value < 5', rows(9, 8), false, 9],
    ['value < 5', rows(), false, null],
    ['value < 5', rows(null), false, null],
    ['value >= 0', rows(null, 2), true, 2],
    ['value = 12', rows('12'), true, 12],
    ['value != 12', rows('text'), false, null],
    ['all value < 5', rows(4, 3), true, 4],
    ['all value < 5', rows(4, 5), false, 4],
    ['all value < 5', rows(4, null), false, 4],
    ['all value < 5', rows(), false, null],
    ['change < -0.3', [{ value: 3, change: -0.4 }], true, -0.4],
    ['no rows', rows(), true, null],
    ['no rows', rows(0), false, null],
  ])('%s of %j', (text, answer, isMet, value) => {
    expect(evaluate(when(text), answer)).toMatchObject({ isMet, value });
  });

  test('names the rows that fulfill the condition', () => {
    const [first, second] = [
      { country: 'DE', value: 1 },
      { country: 'FR', value: 9 },
    ];
    expect(evaluate(when('value < 5'), [second, first]).rows).toEqual([first]);
  });
});
