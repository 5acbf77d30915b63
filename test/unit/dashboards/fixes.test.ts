// Fixes of the queries of a dashboard, as replacements in its document: applied together, they
// leave a document that means what its author wrote.
import { expect, test } from 'vitest';
import { applyFixes } from '../../support/apply-fixes.js';
import { CONTEXT, findProblems, withCard, withVariables } from './documents.js';

const NAMED = { ...CONTEXT, propertyKeys: ['plan', 'amount'] };

const repaired = (text: string): string => applyFixes(text, findProblems(text, NAMED));

const card = (query: string) => withCard(`kind: metric\nviz: number\nquery: ${query}`);

test.each([
  ['a plain text', 'signup | where plan = "pro" | count', 'signup | where event_properties.plan = "pro" | count'],
  ['two of one text', 'signup | where plan = 1 | group by week', 'signup | where event_properties.plan = 1 | by week'],
  [
    'signs of two units',
    'signup | where _city = "🚀🚀" | where plan = 1',
    'signup | where _city = "🚀🚀" | where event_properties.plan = 1',
  ],
  [
    'single quotes',
    `'signup | where event_properties.plan like "it''s%"'`,
    `'signup | where event_properties.plan starts with "it''s"'`,
  ],
  [
    'double quotes',
    String.raw`"signup | where event_properties.plan like \"pro%\""`,
    String.raw`"signup | where event_properties.plan starts with \"pro\""`,
  ],
  ['a comma', 'signup | count by _os and _city', 'signup | count by _os, _city'],
  ['a text of lines', '|\n  signup\n  | group by week', '|\n  signup\n  | by week'],
  [
    'folded lines',
    '>\n  signup\n  | where plan = 1\n  | count',
    '>\n  signup\n  | where event_properties.plan = 1\n  | count',
  ],
  [
    'a plain text of lines',
    'signup\n  | where plan = 1\n  | count',
    'signup\n  | where event_properties.plan = 1\n  | count',
  ],
  ['a placeholder beside it', 'signup | {{range}} | group by week', 'signup | {{range}} | by week'],
])('%s', (_, query, expected) => {
  expect(repaired(card(query))).toBe(card(expected));
  expect(findProblems(card(expected), NAMED)).toEqual([]);
});

test('in a fragment of a variable, once for all its options', () => {
  const written = (field: string) =>
    withVariables(
      `kind:\n  type: select\n  options:\n  - {value: a, label: A, fragment: "| where ${field} = 1"}\n  - {value: b, label: B}`,
      'signup | {{range}} {{kind.fragment}} | count',
    );
  expect(repaired(written('plan'))).toBe(written('event_properties.plan'));
});

test.each([
  ['a value', 'viz: lines', 'viz: line'],
  ['a value in quotes', "viz: 'lines'", "viz: 'line'"],
  ['a key', 'quary: signup', 'query: signup'],
  ['a key in quotes', '"Querys": signup', '"query": signup'],
  ['a value that is far from all', 'viz: diagram', 'viz: diagram'],
  ['a key that is there', 'titel: Signups', 'titel: Signups'],
])('%s of the structure', (_, written, expected) => {
  const lines = ['kind: chart', 'viz: line', 'query: signup'].filter((line) => !expected.includes(line.slice(0, 3)));
  const text = withCard([...lines, written].join('\n'));
  expect(findProblems(text)).not.toEqual([]);
  expect(repaired(text)).toBe(withCard([...lines, expected].join('\n')));
});

test.each([
  ['a part with a placeholder', withVariables('word: {type: input}', 'signup | count() {{range}} by week')],
  [
    'an alias',
    `title: &q signup | where plan = 1 | count\n${withCard('kind: metric\nviz: number\nquery: *q').replace('title: T\n', '')}`,
  ],
  [
    'a text that ends at a comma',
    'version: 1\ntitle: T\nsections:\n- {title: S, cards: [{id: a, title: A, kind: metric, viz: number, query: signup | count by _os and _city}]}\n',
  ],
])('%s has problems without fixes', (_, text) => {
  const problems = findProblems(text, NAMED);
  expect(problems).not.toEqual([]);
  expect(problems.flatMap(({ fix }) => fix ?? [])).toEqual([]);
});

test('only so many wrong queries have fixes', () => {
  const query = `signup | where plan = "${'x'.repeat(900)}" | count`;
  const cards = Array.from(
    { length: 12 },
    (_, index) => `  - {id: c${index}, title: A, kind: metric, viz: number, query: '${query}'}`,
  );
  const problems = findProblems(`version: 1\ntitle: T\nsections:\n- title: S\n  cards:\n${cards.join('\n')}\n`, NAMED);
  expect(problems).toHaveLength(12);
  expect(problems.filter(({ fix }) => fix !== undefined)).toHaveLength(7);
});
