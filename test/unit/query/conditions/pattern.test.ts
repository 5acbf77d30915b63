// Regular expressions in queries: an invalid one is an error with the position of the faulty part.
import { describe, expect, test } from 'vitest';
import { toProjectId } from '../../../../src/platform/ids.js';
import { compile } from '../../../../src/query/compile.js';
import { estimateStates } from '../../../../src/query/conditions/pattern.js';
import { QueryError, type QueryErrorDetail } from '../../../../src/query/errors.js';
import { FORM_LIMITS } from '../../../../src/query/limits.js';
import { quoteText } from '../../../../src/query/parse/strings.js';

const projectId = toProjectId('00000000-0000-7000-8000-000000000001');
const CONTEXT = { projectId, nowMs: Date.parse('2026-11-20T09:30:00Z'), timezone: 'UTC', limit: 100, offset: 0 };

function problemsOf(text: string): readonly QueryErrorDetail[] {
  try {
    compile(text, CONTEXT);
    return [];
  } catch (error) {
    if (error instanceof QueryError) return error.details;
    throw error;
  }
}

const queryOf = (pattern: string): string => `* | where _path ~ ${quoteText(pattern)} | count`;

test.each([
  ['^/\\d+\\.html\\b'],
  ['a\\\\1'],
  ['[(?=]'],
  ['[](?=]'],
  ['[^](?<!]'],
  ['[[:alpha:](?=]'],
  ['\\(?=a'],
  ['\\Q(?=\\1\\E'],
  ['\\12'],
  ['(?:a)(?i)b(?P<name>c)'],
  ['\\pL\\p{Greek}\\P{Lu}[\\p{Han}]\\p{Any}'],
  ['a{0,1000}'],
  [''],
  ['😀[é-ü]+'],
])('the pattern %s is valid', (pattern) => {
  expect(problemsOf(queryOf(pattern))).toEqual([]);
});

test.each([
  ['a(?=b)', 'look-around, "(?="', '(?='],
  ['(?<!a)b', 'look-around, "(?<!"', '(?<!'],
  ['[a](?!b)', 'look-around, "(?!"', '(?!'],
  ['(a)\\1', 'back-reference, "\\1"', undefined],
  ['\\Qa\\E\\9', 'back-reference, "\\9"', undefined],
  ['(', 'has a ( without its )', undefined],
  ['a)b', 'has a ) without its (', undefined],
  ['x[a-', 'has a [ without its ]', '[a-'],
  ['*a', 'repeats nothing: "*"', '*'],
  ['a**', 'has two repetitions in a row: "**"', '**'],
  ['a{2,1}', 'has a repetition that is not possible: "{2,1}"', '{2,1}'],
  ['(a{100}){11}', 'has a repetition that is not possible: "{11}"', '{11}'],
  ['[z-a]', 'has a class that is not possible: "z-a"', 'z-a'],
  ['\\p{Alphabetic}', 'has a class that is not possible: "\\p{Alphabetic}"', undefined],
  ['\\Z', 'has an unknown escape: "\\Z"', undefined],
  ['a\\', 'ends in a backslash', undefined],
  ['(?>a)', 'has a group of an unknown kind: "(?>"', '(?>'],
  ['(?P<a b>c)', 'has a group whose name is not possible: "(?P<a b>"', '(?P<a b>'],
])('the pattern %s is refused: %s', (pattern, message, piece) => {
  const text = queryOf(pattern);
  const [problem, ...others] = problemsOf(text);
  expect(others).toEqual([]);
  expect(problem?.message).toContain(message);
  expect(problem?.hint).not.toBe('');
  const from = (problem?.column ?? 0) - 1;
  expect(text.slice(from, from + (problem?.length ?? 0))).toBe(piece ?? quoteText(pattern));
});

test.each([
  ['users | where plan ~ "(" | count'],
  ['sessions | where session.landing_path !~ "(" | count'],
  ['funnel a -> b | where _path ~ "("'],
  ['choice k | where variant_key ~ "(" | count'],
  ['* | where not (_path = "/" or _path !~ "(") | list'],
])('an invalid pattern is refused in %s', (text) => {
  expect(problemsOf(text)).toMatchObject([{ message: 'the regular expression has a ( without its )' }]);
});

describe('size of a pattern', () => {
  test.each([
    ['abc', 3],
    ['abc{10}', 12],
    ['(abc){10}', 50],
    ['(a(bc){3}){2}', 30],
    ['a{2,}b{0}', 4],
    ['.{1000}', 10_000],
    ['\\pL[\\pL\\pN]', 1_500],
    ['\\Q(a){5}\\E', 10],
    ['é', 2],
    [')))', 0],
  ])('estimateStates(%s) is %i', (pattern, states) => {
    expect(estimateStates(pattern)).toBe(states);
  });

  test('is limited for all patterns of a query together, before they are parsed', () => {
    const half = `(?:abcdefghij){${Math.ceil(FORM_LIMITS.patternStates.max / 20)}}`;
    expect(problemsOf(`* | where _path ~ "${half}" | count`)).toEqual([]);
    expect(problemsOf(`* | where _path ~ "${half}" or _url ~ "${half}" | count`)).toMatchObject([
      {
        message: expect.stringMatching(
          /^the regular expressions of the query have about \d+ states; the limit is 5000$/,
        ),
      },
    ]);
    expect(problemsOf(queryOf('['.repeat(16_000)))).toHaveLength(1);
  });
});
