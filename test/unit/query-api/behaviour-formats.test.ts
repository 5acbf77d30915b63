// Formats of behaviour queries: rates, paths, and the steps of a funnel.
import { expect, test } from 'vitest';
import { formatCsv } from '../../../src/query/csv.js';
import { formatLlm } from '../../../src/query/markdown.js';
import { formatJson } from '../../../src/query-api/formats/json.js';
import { anAnswer } from './answers.js';

const rated = anAnswer({
  columns: [
    { name: 'event', type: 'nullable_text' },
    { name: 'rate', type: 'rate' },
  ],
  rows: [
    ['signup', 1],
    ['purchase', 1 / 3],
    ['refund', null],
  ],
  metric: undefined,
  total: 3,
  mode: 'funnel',
  metadata: { funnel_steps: ['signup', 'purchase', 'refund'] },
});

const paths = anAnswer({
  columns: [
    { name: 'path', type: 'path' },
    { name: 'users', type: 'number' },
  ],
  rows: [
    [['signup', 'a|b'], 2],
    [['=1', 'x,y'], 1],
  ],
  metric: undefined,
  total: 2,
});

test('rates are fractions in JSON and CSV, and percentages in Markdown', () => {
  expect(JSON.parse(formatJson(rated)).rows[1]).toEqual({ event: 'purchase', rate: 1 / 3 });
  expect(formatCsv(rated)).toBe('event,rate\r\nsignup,1\r\npurchase,0.3333333333333333\r\nrefund,\r\n');
  expect(formatLlm(rated, 'q').split('\n').slice(2, 7)).toEqual([
    '| event    |   rate |',
    '| -------- | -----: |',
    '| signup   |   100% |',
    '| purchase | 33.33% |',
    '| refund   | (none) |',
  ]);
});

test('a funnel has its steps in the metadata', () => {
  const { mode, metadata } = JSON.parse(formatJson({ ...rated, isTruncated: true }));
  expect(mode).toBe('funnel');
  expect(metadata).toEqual({ funnel_steps: ['signup', 'purchase', 'refund'], truncated: true });
});

test('a path is a list in JSON and a text in CSV and Markdown', () => {
  expect(JSON.parse(formatJson(paths)).rows[0]).toEqual({ path: ['signup', 'a|b'], users: 2 });
  expect(formatCsv(paths)).toBe(`path,users\r\nsignup -> a|b,2\r\n"'=1 -> x,y",1\r\n`);
  expect(formatLlm(paths, 'q').split('\n')[4]).toBe('| signup -> a\\|b |     2 |');
});

test('numbers have at most 6 decimals in Markdown and all decimals in JSON and CSV', () => {
  const exact = [2 / 3, 1e-9, 12, 1_234_567_890.5];
  const numbers = anAnswer({
    metric: undefined,
    columns: [{ name: 'value', type: 'number' }],
    rows: exact.map((value) => [value]),
  });
  expect(JSON.parse(formatJson(numbers)).rows).toEqual(exact.map((value) => ({ value })));
  expect(formatCsv(numbers)).toBe('value\r\n0.6666666666666666\r\n1e-9\r\n12\r\n1234567890.5\r\n');
  const cells = formatLlm(numbers, 'q').split('\n').slice(4, 8);
  expect(cells.map((line) => line.replaceAll(/[| ]/g, ''))).toEqual(['0.666667', '0', '12', '1234567890.5']);
});
