// Errors of the compiler: nearest names, hints and positions.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { editDistance } from '../../../src/platform/edit-distance.js';
import { compile } from '../../../src/query/compile.js';
import { drawDetail, findNearest, quote, toDetails } from '../../../src/query/errors.js';
import { STAGES } from '../../../src/query/language.js';
import { NearestNames } from '../../../src/query/nearest-names.js';
import { parse } from '../../../src/query/parse/parse.js';
import { CONTEXT, problemsOf } from './compiling.js';

test.each([
  ['', '', 0],
  ['abc', 'abc', 0],
  ['', 'abc', 3],
  ['cuont', 'count', 1],
  ['contry', 'country', 1],
  ['kitten', 'sitting', 3],
])('editDistance(%j, %j) is %i', (a, b, distance) => {
  expect(editDistance(a, b)).toBe(distance);
  expect(editDistance(b, a)).toBe(distance);
});

test('editDistance() with a maximum is the distance, or above the maximum', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 12 });
  fc.assert(
    fc.property(text, text, fc.nat(12), (a, b, max) => {
      const distance = editDistance(a, b);
      const bounded = editDistance(a, b, max);
      if (distance <= max) expect(bounded).toBe(distance);
      else expect(bounded).toBeGreaterThan(max);
    }),
    { numRuns: 2_000 },
  );
});

const SKIPPING = 'rows are skipped by the request, not by the query: {"q": "…", "limit": 100, "offset": 100}';

test.each([
  ['funl a -> b', 'unknown source "funl"', 'nearest is "funnel"; the form is: funnel signup -> pay exclude refund'],
  ['path to a', 'unknown source "path"', 'nearest is "paths"; the form is: paths from signup, or paths to signup'],
  ['usr "ann"', 'unknown source "usr"', 'nearest is "user"; the form is: user "id", with the id in quotes'],
  ['pages count', 'unexpected "count" in the query', 'a pipe comes before a stage: | count'],
  ['last 7 days', 'unexpected "7" in the query', '"last" is a stage; a source comes before it: * | last …'],
  ['a | last 1.5 days', '"1.5 days" is not a duration', 'a duration is a whole number and a unit: 7d, or 7 days'],
  ['a | count | offset 100', 'unknown stage "offset"', SKIPPING],
  ['a | group by _os', 'unknown stage "group"', 'groups are named behind the aggregate: count by _country'],
  ['a | ORDER BY count', 'unknown stage "ORDER"', 'the form is: sort count desc'],
])('parse() of %s reports: %s', (text, message, hint) => {
  const { problems } = parse(text);
  expect(problems).toMatchObject([{ message, hint }]);
});

describe('findNearest', () => {
  const KNOWN = ['_country', '_city', '_browser', 'event_type', 'user_id', 'time', 'day'];
  test.each([
    ['_contry', '_country'],
    ['country', '_country'],
    ['COUNTRY', '_country'],
    ['userid', 'user_id'],
    ['event_typ', 'event_type'],
    ['plan', undefined],
    ['x', undefined],
    ['', undefined],
    ['y'.repeat(1000), undefined],
    // Another word, not a misspelling.
    ['name', undefined],
    ['pay', undefined],
    ['bime', 'time'],
    ['cuntry', '_country'],
  ])('maps %j to %j', (name, nearest) => {
    expect(findNearest(name, KNOWN)).toBe(nearest);
  });

  test('compares a bounded number of characters, and none of them twice', () => {
    const known = Array.from({ length: 5_000 }, (_, index) => `${'n'.repeat(59)}${index % 10}`);
    let given = 0;
    const names = new NearestNames(100 * 60 * 60);
    const search = (name: string) =>
      names.find('key', name, function* () {
        for (const one of known) {
          given += 1;
          yield one;
        }
      });
    expect(search('x'.repeat(60))).toBeUndefined();
    const afterOne = given;
    search('x'.repeat(60));
    expect(given).toBe(afterOne);
    for (const letter of 'abcdefgh') search(letter.repeat(60));
    expect(given).toBeLessThan(200);
  });
});

describe('positions of problems', () => {
  const text = 'ab\n😀é | x';

  test('are lines and characters from 1', () => {
    const at = text.indexOf('x');
    const problem = { message: 'm', hint: 'h', span: { from: at, to: at + 1 } };
    expect(toDetails(text, [problem])).toEqual([{ message: 'm', hint: 'h', line: 2, column: 6, length: 1 }]);
  });

  test('are in the order of the text', () => {
    const problem = (from: number) => ({ message: `${from}`, hint: 'h', span: { from, to: from + 1 } });
    expect(toDetails(text, [problem(4), problem(0)]).map((detail) => detail.message)).toEqual(['0', '4']);
  });

  test('are marked under the line', () => {
    const detail = {
      message: 'unknown field "_contry"',
      hint: 'nearest is "_country"',
      line: 2,
      column: 12,
      length: 7,
    };
    expect(drawDetail('signup\n| count by _contry', detail)).toBe(
      [
        'unknown field "_contry" at line 2, column 12; nearest is "_country"',
        '  | count by _contry',
        '             ~~~~~~~',
      ].join('\n'),
    );
  });
});

test('quote() truncates a token and keeps it on one line', () => {
  expect(quote('a\nb')).toBe('"a b"');
  expect(quote('x'.repeat(100))).toHaveLength(42);
});

const LAST_FORM = 'a query is: source | stage | stage, as in: signup | last 7d | count by day';
const ONE_AGGREGATE =
  'an answer has one aggregate, as in unique by day; a formula has several: formula count(signup) as events, unique(signup) as people';
const STAR_FORM = '* takes no brackets: its conditions are in where, and names of events take them';
const CALLS_FORM =
  'calls in conditions are count(event), sum(event, field), avg, min, max and unique(event, field), as in where count(purchase last 30d) >= 3';

test.each([
  ['signup | today and yesterday', 'unexpected "and" in the query', LAST_FORM],
  ['signup | this month to date | count', 'unexpected "to" in the query', LAST_FORM],
  [
    'paths from * | window 1d | depth 3',
    'unexpected "*" in paths',
    'the form is: paths from signup, or paths to signup',
  ],
  ['funnel a to b | window 7d', 'unexpected "to" in funnel', 'the form is: funnel signup -> pay exclude refund'],
  ['funnel a -> * | window 7d', 'unexpected "*" in funnel', 'the form is: funnel signup -> pay exclude refund'],
  // What these stages need is unknown with their source.
  ['paths from * | unit device_id', 'unexpected "*" in paths', 'the form is: paths from signup, or paths to signup'],
  ['lifecycle , | people dormant', 'unexpected "," in lifecycle', 'the form is: lifecycle login'],
  ['funnel a -> , | people at 2', 'unexpected "," in funnel', 'the form is: funnel signup -> pay exclude refund'],
  ['formula count( as x | where x > 1', 'unexpected "x" in formula', 'the form is: formula count(pay) / count(signup)'],
  [
    'formula count(a) as , | where rate > 1 | sort rate',
    'unexpected "," in formula',
    'the form is: formula count(pay) / count(signup)',
  ],
  ['a | count by _os | sort count nulls first', 'unexpected "nulls" in sort', 'the form is: sort count desc'],
  ['formula ) as rate | sort rate', 'unexpected ")" in formula', 'the form is: formula count(pay) / count(signup)'],
  [
    'signup | where user.first_seen > last 7d',
    'unexpected "7d" in where',
    'last is a stage; a condition has dates: user.first_seen > 2026-01-31',
  ],
  [
    '* | where _os = "x" || (_path = "y" and _city = "z") | count',
    'unexpected "||" in where',
    'a pipe is |, and conditions are joined with or',
  ],
  ['funnel a -> b | people step 2', 'unexpected "2" in the query', STAGES.people.hint],
  ['purchase | count by bucket(price)', 'unexpected ")" in bucket', 'a bucket has a width: bucket(price, 10)'],
  ['* | where lower(_path) = "a"', 'unknown function "lower" in a condition', CALLS_FORM],
  ['signup | count, sum price', 'count takes no field, but has "sum"', ONE_AGGREGATE],
  ['signup | sum price, count by day', 'unexpected "," in the aggregate', ONE_AGGREGATE],
  ['signup | first 5', 'first does not fit an event source', 'it goes with retention'],
  [
    'signup | last seven days',
    'unknown period "seven" after last',
    'periods are last week, last month, last quarter and last year; yesterday is a word of its own',
  ],
  ['*[_path = "/"] | count', 'unexpected "[" in the query', STAR_FORM],
  ['formula unique(*[_path = "/"])', 'unexpected "[" in formula', STAR_FORM],
])('one mistake is one problem: %s', (text, message, hint) => {
  expect(problemsOf(text).map((problem) => [problem.message, problem.hint])).toEqual([[message, hint]]);
});

test.each(['signup | count price by', 'signup | depth 3 extra | count by dday'])(
  'an error that does not follow from another problem is told: %s',
  (text) => {
    expect(problemsOf(text)).toHaveLength(2);
  },
);

test.each([
  ['signup | count BY day', 'by is written in lower case: count by _country'],
  ['signup | count as n', 'columns of a formula have names: formula count(signup) as signups'],
  [
    'signup | count, unique by day',
    'an answer has one aggregate, as in unique by day; a formula has several: formula count(signup) as events, unique(signup) as people',
  ],
])('words behind count are not taken for a field to group by: %s', (text, hint) => {
  expect(problemsOf(text).map((problem) => problem.hint)).toContain(hint);
});

test('a bucket of a property that is called as the numbers before it has a warning', () => {
  const warningsOf = (text: string) => compile(text, CONTEXT).warnings;
  expect(warningsOf('* | count per distinct_id | count by bucket(count, 1)')).toEqual([
    'bucket(count, …) is of event_properties.count; the numbers of count per distinct_id are no group',
  ]);
  expect(warningsOf('* | count per distinct_id | count by bucket(total, 1)')).toEqual([]);
});
