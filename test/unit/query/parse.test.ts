import { describe, expect, test } from 'vitest';
import { NESTING_MAX, parse } from '../../../src/query/parse/parse.js';
import { unquote } from '../../../src/query/parse/strings.js';

describe('strings', () => {
  test.each([
    ['"plain"', 'plain'],
    ["'single'", 'single'],
    ['"say \\"hi\\""', 'say "hi"'],
    ["'it\\'s'", "it's"],
    ['"a\\\\b"', 'a\\b'],
    ['"a\\nb\\tc"', 'a\nb\tc'],
    ['"\\u00e9\\u20AC"', 'é€'],
    // What begins no escape is what it looks like, so that regular expressions may be written as everywhere else.
    ['"\\u12"', '\\u12'],
    ['"\\q"', '\\q'],
    ['"^/\\d+\\.html\\b$"', '^/\\d+\\.html\\b$'],
    ['"^/\\\\d+$"', '^/\\d+$'],
    ['""', ''],
  ])('%s is %j', (literal, text) => {
    expect(unquote(literal)).toBe(text);
  });
});

describe('nesting', () => {
  const nest = (levels: number): string => `* | where ${'(a = 1 or '.repeat(levels)}b = 2${')'.repeat(levels)}`;

  test('is taken to its limit', () => {
    expect(parse(nest(NESTING_MAX)).problems).toEqual([]);
  });

  test('is one problem behind it', () => {
    const { problems } = parse(nest(NESTING_MAX + 1));
    expect(problems.map((problem) => problem.message)).toEqual([
      `parentheses are nested deeper than ${NESTING_MAX} levels`,
    ]);
  });
});

test('a chain of any length is one form', () => {
  const { query } = parse(`* | where a = 1${' or a = 1'.repeat(1500)}`);
  const [where] = query.stages;
  expect(where?.kind === 'where' && where.condition.kind === 'or' && where.condition.items.length).toBe(1501);
});

test('what stands around a problem is read all the same', () => {
  const { query, problems } = parse('signup | where a = | count by day | limit 5');
  expect(problems).toHaveLength(1);
  expect(query.stages.map((stage) => stage.kind)).toEqual(['broken', 'aggregate', 'limit']);
});
