// Calls in conditions in the output of `npm run explain`.
import { expect, test } from 'vitest';
import { explain } from '../../../cli/explain.js';

const CONTEXT = { nowMs: Date.parse('2026-11-20T09:30:00Z'), timezone: 'UTC' };

test('explain() shows each call as a query that counts the people who pass it', () => {
  const calls = explain(
    'signup | last 1d | where count(purchase[price > 10]  last 30d) >= 3 and not (count(refund) = 0 or _path = "/")',
    CONTEXT,
  ).get('calls');
  expect(calls?.split('\n')).toEqual([
    '* | from 2026-11-19T09:30:00.000Z to 2026-11-20T09:30:00.000Z | where count(purchase[price > 10] last 30d) >= 3 | unique',
    '* | from 2026-11-19T09:30:00.000Z to 2026-11-20T09:30:00.000Z | where count(refund) = 0 | unique',
  ]);
});

test.each([
  ['retention signup | where count(order last 3m) >= 1', '| where count(order last 3mo) >= 1 | unique'],
  ['* | where count("Button  Click") >= 3 | count', '| where count("Button  Click") >= 3 | unique'],
  ['* | where count(order # old\n  last 30d) >= 3 | count', '| where count(order # old\n  last 30d) >= 3\n| unique'],
])('explain() counts the people of the call of %j', (query, end) => {
  const calls = explain(query, CONTEXT).get('calls') ?? '';
  expect(calls.endsWith(end) ? end : calls).toBe(end);
  expect([...explain(calls, CONTEXT).keys()]).not.toContain('problems');
});

test('explain() shows calls of users as queries of users, which compile', () => {
  const calls = explain('users | where sum(purchase, price) > 100 | count by plan', CONTEXT).get('calls') ?? '';
  expect(calls).toMatch(/^users \| from .* to .* \| where sum\(purchase, price\) > 100 \| count$/);
  expect([...explain(calls, CONTEXT).keys()]).not.toContain('problems');
});
