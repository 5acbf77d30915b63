// Filters of rows of the answer.
import { expect, test } from 'vitest';
import { compile } from '../../../../src/query/compile.js';
import { CONTEXT, problemsOf } from '../compiling.js';

const statementOf = (text: string) => compile(text, CONTEXT).statement;

test.each([
  ['* | unique by _country | where value > 20', '* | unique by _country | where unique_count > 20'],
  ['* | count by day | where value > 20', '* | count by day | where count > 20'],
  [
    '* | latest _path | count by last_value | where value > 2',
    '* | latest _path | count by last_value | where count > 2',
  ],
  ['* | count per user_id | where value > 2 | count', '* | count per user_id | where count > 2 | count'],
  [
    'formula count(a) | where _country = "DE" | where value > 2 | by day',
    'formula count(a) | by day | where value > 2 | where _country = "DE"',
  ],
  ['formula count(a) | where value > 2 | by day', 'formula count(a) | by day | where value > 2'],
])('%s asks the same as %s', (text, same) => {
  expect(statementOf(text)).toEqual(statementOf(same));
});

test('bare names of profiles and exposures stay properties', () => {
  for (const text of ['users | count by plan | where value > 20', 'choice a | count by plan | where value > 20']) {
    expect(statementOf(text).sql).not.toContain('rows AS');
  }
});

test.each(['users', 'choice a'])('beside a column, `value` of %s is the group and no metric', (source) => {
  const by = `${source} | count by value, plan | where count > 1 and`;
  const full = source === 'users' ? 'user.value' : 'event_properties.value';
  expect(statementOf(`${by} value = 3`)).toEqual(statementOf(`${by} ${full} = 3`));
  const [problem] = problemsOf(`${source} | count by plan | where count > 1 and value = 3`);
  expect(problem?.message).toBe('"value" is no column of the answer');
});

test('a column of a formula with the name of a field leaves that to events', () => {
  expect(statementOf('formula count(a) as user_id | where user_id = "u"').sql).not.toContain('rows AS');
});

test.each([
  ['formula count(a) as n | by day | where n > 2 and _country = "DE"', '"_country" is no column of the answer'],
  ['* | latest _path | by last_value | where count > 2 and entity = "u"', '"entity" is no column of the answer'],
  ['formula count(a) as n | by day | top 3 | where n > 2', 'where comes after top'],
])('%s is refused', (text, message) => {
  expect(problemsOf(text).map((problem) => problem.message)).toEqual([expect.stringContaining(message)]);
});

test('the hint for having is the where that filters rows', () => {
  const [problem] = problemsOf('* | count by _country | having count > 20');
  expect(problem?.hint).toContain('count by _country | where count > 20');
});
