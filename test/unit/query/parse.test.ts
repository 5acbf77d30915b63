// Parser: string literals, nesting, long chains, and recovery after errors.
import { describe, expect, test } from 'vitest';
import { FORM_LIMITS } from '../../../src/query/limits.js';
import { parse } from '../../../src/query/parse/parse.js';
import { unquote } from '../../../src/query/parse/strings.js';

describe('unquote', () => {
  test.each([
    ['"plain"', 'plain'],
    ["'single'", 'single'],
    ['"say \\"hi\\""', 'say "hi"'],
    ["'it\\'s'", "it's"],
    ['"a\\\\b"', 'a\\b'],
    ['"a\\nb\\tc"', 'a\nb\tc'],
    ['"\\u00e9\\u20AC"', 'é€'],
    // An unknown escape is kept as it is, so that regular expressions need no double backslash.
    ['"\\u12"', '\\u12'],
    ['"\\q"', '\\q'],
    ['"^/\\d+\\.html\\b$"', '^/\\d+\\.html\\b$'],
    ['"^/\\\\d+$"', '^/\\d+$'],
    ['""', ''],
  ])('reads %s as %j', (literal, text) => {
    expect(unquote(literal)).toBe(text);
  });
});

describe('nested conditions', () => {
  const NESTING_MAX = FORM_LIMITS.nesting.max;
  const nest = (levels: number): string => `* | where ${'(a = 1 or '.repeat(levels)}b = 2${')'.repeat(levels)}`;

  test('are accepted up to the limit', () => {
    expect(parse(nest(NESTING_MAX)).problems).toEqual([]);
  });

  test('are one problem above it', () => {
    const { problems } = parse(nest(NESTING_MAX + 1));
    expect(problems.map((problem) => problem.message)).toEqual([
      `parentheses are nested deeper than ${NESTING_MAX} levels`,
    ]);
  });
});

test('a chain of "or" of any length is one condition', () => {
  const { query } = parse(`* | where a = 1${' or a = 1'.repeat(1500)}`);
  const [where] = query.stages;
  expect(where?.kind === 'where' && where.condition.kind === 'or' && where.condition.items.length).toBe(1501);
});

test('text far after an error is not read, and the end of reading is no problem', () => {
  const early = `* | limit x | where ${'_path = "a" and '.repeat(1000)}_path = "b" | cuont`;
  const { problems, query } = parse(early);
  expect(problems.map((problem) => problem.message)).toEqual(['unexpected "x" in limit']);
  expect(query.stages.at(-1)?.kind).toBe('broken');
});

test('a long closed string after an error is not reported as open', () => {
  const { problems } = parse(`* | limit "${"\\'".repeat(4000)}" | count`);
  expect(problems).toHaveLength(1);
  expect(problems[0]?.message).toMatch(/^unexpected ".*" in limit$/);
});

test('problems before an open string are still reported', () => {
  const { problems } = parse('* | limit x | where _path = "a | count');
  expect(problems.map((problem) => problem.message)).toEqual([
    'unexpected "x" in limit',
    'the string that starts with "a | count is not closed',
  ]);
});

test('stages around a problem are still parsed', () => {
  const { query, problems } = parse('signup | where a = | count by day | limit 5');
  expect(problems).toHaveLength(1);
  expect(query.stages.map((stage) => stage.kind)).toEqual(['broken', 'aggregate', 'limit']);
});
