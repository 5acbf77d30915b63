import { describe, expect, test } from 'vitest';
import { FORM_LIMITS } from '../../../src/query/limits.js';
import { parse } from '../../../src/query/parse/parse.js';
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
  const NESTING_MAX = FORM_LIMITS.nesting.max;
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

test('what is far behind an error is not read, and no problem is made of the place where reading ends', () => {
  const early = `* | limit x | where ${'_path = "a" and '.repeat(1000)}_path = "b" | cuont`;
  const { problems, query } = parse(early);
  expect(problems.map((problem) => problem.message)).toEqual(['unexpected "x" in limit']);
  expect(query.stages.at(-1)?.kind).toBe('broken');
});

test('a closed string behind an error is no open one, however long it is', () => {
  const { problems } = parse(`* | limit "${"\\'".repeat(4000)}" | count`);
  expect(problems).toHaveLength(1);
  expect(problems[0]?.message).toMatch(/^unexpected ".*" in limit$/);
});

test('before an open string, everything is still looked at', () => {
  const { problems } = parse('* | limit x | where _path = "a | count');
  expect(problems.map((problem) => problem.message)).toEqual([
    'unexpected "x" in limit',
    'the string that starts with "a | count is not closed',
  ]);
});

test('what stands around a problem is read all the same', () => {
  const { query, problems } = parse('signup | where a = | count by day | limit 5');
  expect(problems).toHaveLength(1);
  expect(query.stages.map((stage) => stage.kind)).toEqual(['broken', 'aggregate', 'limit']);
});
