// Questions of the oracle as query text.
import { expect, test } from 'vitest';
import type { Condition, Question } from '../../oracle/question.js';
import { toQueryText } from '../../oracle/to-query-text.js';

const leaf = (field: string, value: string | number = 1): Condition => ({
  kind: 'compare',
  field,
  operator: '=',
  value,
});
const count = { kind: 'term', function: 'count', event: 'a' } as const;
const two = { kind: 'number', value: 2 } as const;

test.each<[string, Question]>([
  ['signup', { source: 'events', event: 'signup' }],
  [
    '* | list | limit 3',
    { source: 'events', event: null, reading: { kind: 'list' }, ending: { kind: 'limit', count: 3 } },
  ],
  ['"page view"', { source: 'events', event: 'page view' }],
  ['"users" | last 3mo', { source: 'events', event: 'users', range: { kind: 'last', span: { count: 3, unit: 'mo' } } }],
  [
    'a | where x = 1 and (y = 1 or z = 1) | where x = 1 and y = 1 or z = 1',
    {
      source: 'events',
      event: 'a',
      where: [
        { kind: 'and', terms: [leaf('x'), { kind: 'or', terms: [leaf('y'), leaf('z')] }] },
        { kind: 'or', terms: [{ kind: 'and', terms: [leaf('x'), leaf('y')] }, leaf('z')] },
      ],
    },
  ],
  [
    'a | where event_properties."Button Name" = "say \\"hi\\"\\n\\\\"',
    { source: 'events', event: 'a', where: [leaf('event_properties.Button Name', 'say "hi"\n\\')] },
  ],
  [
    'a | unique by day, _country | sort unique_count desc | limit 5',
    {
      source: 'events',
      event: 'a',
      reading: {
        kind: 'aggregate',
        aggregate: { kind: 'unique' },
        by: [
          { kind: 'time', unit: 'day' },
          { kind: 'field', field: '_country' },
        ],
      },
      ending: { kind: 'sort', column: 'unique_count', descending: true, limit: 5 },
    },
  ],
  [
    'funnel a -> "b c" exclude x, y | from 2026-11-01 to 2026-11-03 | window 2d | by _platform',
    {
      source: 'funnel',
      steps: ['a', 'b c'],
      exclude: ['x', 'y'],
      range: { kind: 'from', from: '2026-11-01', to: '2026-11-03' },
      window: { count: 2, unit: 'd' },
      by: '_platform',
    },
  ],
  ['retention a returning b | by month', { source: 'retention', event: 'a', returning: 'b', period: 'month' }],
  [
    'paths to a | depth 3 | by _path | limit 5',
    { source: 'paths', direction: 'to', event: 'a', depth: 3, by: '_path', limit: 5 },
  ],
  ['user "a\\\\b" | yesterday', { source: 'user', id: 'a\\b', range: { kind: 'yesterday' } }],
  [
    '* | latest user_properties.plan per device_id',
    { source: 'latest', event: null, field: 'user_properties.plan', per: 'device_id' },
  ],
  [
    'choice c | this month | results pay | window 2d | unit user_id',
    {
      source: 'choice',
      choice: 'c',
      range: { kind: 'this', unit: 'month' },
      results: { event: 'pay', window: { count: 2, unit: 'd' }, unit: 'user_id' },
    },
  ],
  [
    'formula count(a) - (2 - count(a)) * 2',
    {
      source: 'formula',
      columns: [
        {
          expression: {
            kind: 'binary',
            operator: '-',
            left: count,
            right: {
              kind: 'binary',
              operator: '*',
              left: { kind: 'binary', operator: '-', left: two, right: count },
              right: two,
            },
          },
        },
      ],
    },
  ],
  [
    'formula 2 / (count(a) / 2) + 2',
    {
      source: 'formula',
      columns: [
        {
          expression: {
            kind: 'binary',
            operator: '+',
            left: {
              kind: 'binary',
              operator: '/',
              left: two,
              right: { kind: 'binary', operator: '/', left: count, right: two },
            },
            right: two,
          },
        },
      ],
    },
  ],
])('toQueryText() writes %s', (text, question) => expect(toQueryText(question)).toBe(text));
