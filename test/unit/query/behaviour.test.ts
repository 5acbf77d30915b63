// Funnel, retention, lifecycle, stickiness, paths and formula: valid options, and errors for
// others.
import { describe, expect, test } from 'vitest';
import { toProjectId } from '../../../src/platform/ids.js';
import { analyze } from '../../../src/query/analyze/analyze.js';
import { compile } from '../../../src/query/compile.js';
import { QueryError } from '../../../src/query/errors.js';
import { parse } from '../../../src/query/parse/parse.js';

const projectId = toProjectId('00000000-0000-7000-8000-000000000001');
const NOW = '2026-11-20T09:30:00.000Z';
const CONTEXT = { projectId, nowMs: Date.parse(NOW), timezone: 'UTC', limit: 100, offset: 0 };
const DAY_MS = 86_400_000;

const meaningOf = (text: string) => {
  const { query, problems } = analyze(parse(text).query, CONTEXT);
  expect(problems).toEqual([]);
  return query;
};

function problemsOf(text: string): string[] {
  try {
    compile(text, CONTEXT);
    return [];
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    return error.details.map(({ message, hint }) => `${message}; ${hint}`);
  }
}

describe('defaults of behaviour sources', () => {
  test.each([
    ['funnel a -> b', { windowMs: 3_600_000, exclude: [], by: undefined, rowsMax: undefined }],
    ['retention a', { period: 'week', returning: undefined }],
    ['lifecycle a', { period: 'week' }],
    ['paths to a', { windowMs: 3_600_000, depth: 5, rowsMax: 20, label: { name: 'event_type' } }],
    ['formula count(a)', { groups: [], columns: [{ name: 'value' }], windows: undefined }],
  ])('%s', (text, expected) => {
    expect(meaningOf(text)).toMatchObject(expected);
  });

  test.each([
    ['funnel a -> b', 7],
    ['paths from a', 7],
    ['formula count(a)', 7],
    ['lifecycle a', 30],
    ['stickiness a', 30],
    ['retention a', 84],
  ])('%s has a range of %i days', (text, days) => {
    expect(meaningOf(text)).toMatchObject({
      selection: { range: { fromMs: CONTEXT.nowMs - days * DAY_MS, toMs: CONTEXT.nowMs } },
    });
  });
});

test('the return events of a retention meet their condition, also when the start has the same', () => {
  const { sql } = compile('retention a[plan = "pro"] returning a[plan = "pro"] by week', CONTEXT).statement;
  expect(sql).not.toContain('groupUniqArray(');
});

test('steps whose values differ by a blank are different steps', () => {
  const { params } = compile('funnel a[t = "x  y"] -> a[t = "x y"]', CONTEXT).statement;
  expect(Object.values(params)).toEqual(expect.arrayContaining(['x  y', 'x y']));
  expect(() => compile('funnel a[t = "x  y"] -> b exclude a[t = "x y"]', CONTEXT)).not.toThrow();
});

describe('equivalent forms', () => {
  test.each([
    ['funnel a -> b exclude x, y', 'funnel a -> b | exclude x | exclude y, x'],
    ['retention a returning b', 'retention a | returning b'],
    ['retention a', 'retention a returning any'],
    ['retention a', 'retention a returning *'],
    ['retention a | last 3m', 'retention a | last 3mo'],
    ['retention a | compare 6m', 'retention a | compare 6mo'],
    ['retention a | where count(b last 6m) > 1', 'retention a | where count(b last 6mo) > 1'],
    ['retention a | where count(b last 6 minutes) > 1', 'retention a | where count(b last 6 minute) > 1'],
    ['paths from a | sort users desc | limit 3', 'paths from a | top 3'],
    ['stickiness a | sort users desc | limit 3', 'stickiness a | top 3'],
    ['formula -count(a)', 'formula 0 - count(a)'],
    ['formula -count(a) + count(b)', 'formula (0 - count(a)) + count(b)'],
    ['formula -count(a)*2 - 1', 'formula ((0 - count(a)) * 2) - 1'],
    ['formula 2 - -1 + count(a)', 'formula (2 - (0 - 1)) + count(a)'],
    ['formula count(a last 2w) | by day', 'formula count(a last 14 days) | by day'],
    ['funnel a -> b | window 7d', 'funnel a -> b | window 1w'],
    ['funnel a -> b | window 30d', 'funnel a -> b | window 1mo'],
  ])('%s equals %s', (one, other) => {
    expect(meaningOf(other)).toEqual(meaningOf(one));
  });

  test.each([
    ['a[k = 1] -> a[k = true]', true],
    ['a[k = 5] -> a[k = 5.0]', true],
    ['a[k = 5] -> a[k = "5.0"]', true],
    ['a[k in (1, "x")] -> a[k = "1"]', true],
    ['a[k = "5"] -> a[k = "5.0"]', false],
    ['a[k = 5] -> a[k in (6, 7.5)]', false],
    ['a[k = true] -> a[k = false]', false],
  ])('one event may be of both steps of funnel %s: %s', (steps, mayBe) => {
    expect(compile(`funnel ${steps}`, CONTEXT).statement.sql.includes(' positions_by_step AS')).toBe(mayBe);
  });

  test('an event named any is quoted', () => {
    expect(meaningOf('retention a returning "any"')).toMatchObject({ returning: { eventTypes: ['any'] } });
  });

  test('exclude works in the source and as a stage', () => {
    expect(meaningOf('funnel a -> b exclude x | exclude y')).toMatchObject({
      exclude: [{ eventTypes: ['x'] }, { eventTypes: ['y'] }],
    });
  });
});

test('the statement of a formula grows linearly with nested divisions', () => {
  const lengthOf = (levels: number) =>
    compile(`formula ${'1/('.repeat(levels)}count(a)${')'.repeat(levels)}`, CONTEXT).statement.sql.length;
  expect(lengthOf(30) - lengthOf(20)).toBeLessThan(2 * (lengthOf(20) - lengthOf(10)));
  expect(lengthOf(30)).toBeLessThan(2_000);
});

describe('problems of behaviour sources', () => {
  test.each([
    ['funnel a', ['the funnel has one step; write funnel a -> purchase, with two steps or more']],
    ['funnel a -> b exclude b', ['"b" is a step of the funnel and excluded; exclude takes events that are no steps']],
    ['funnel a -> b | window 1d | window 2d', ['window is given twice; remove one of them']],
    [
      'funnel a -> b | window 3x',
      ['unknown unit "x"; units are m (minutes), h, d, w, mo (months) and y, as in last 7d'],
    ],
    ['funnel a -> b | by hour', ['by hour does not fit funnel; by takes day, week, month, a field']],
    ['funnel a -> b | by _country, _city', ['by has "_country" already; funnel takes one; remove one of them']],
    [
      'funnel a -> b | unique',
      [
        'unique does not fit funnel, which answers users, rates and the median time of each step; it goes with where, a time range, people, window, unit, exclude, order, by, compare, times, limit',
      ],
    ],
    ['retention a | by hour', ['by hour does not fit retention; by takes day, week, month, quarter, year, a field']],
    ['retention a | exclude b', ['exclude does not fit retention; it goes with funnel']],
    ['stickiness a | depth 3', ['depth does not fit stickiness; it goes with paths']],
    ['lifecycle a | by _city', ['by _city does not fit lifecycle; by takes day, week, month, a cohort']],
    ['paths from a | returning b', ['returning does not fit paths; it goes with retention']],
    ['paths from a | limit 3 | top 4', ['the number of rows is given twice; remove one of them']],
    ['formula min(a, _city)', [expect.stringMatching(/^unknown function "min"; .*functions are count\(event\)/)]],
    [
      `formula ${Array(70).fill('count(a)').join(' + ')}`,
      ['the formula has more than 64 operations in a row; split it into several queries'],
    ],
    ['formula avg(a)', ['avg has no field; write avg(purchase, event_properties.price)']],
    ['formula count(a, _city)', [expect.stringMatching(/^count takes no field, but has "_city"; functions are/)]],
    [
      'funnel a -> b exclude a | window 0d | by _contry | last 3x | list',
      [
        '"a" is a step of the funnel and excluded; exclude takes events that are no steps',
        'the duration is zero; it is at least 1, as in window 1d',
        expect.stringMatching(/^unknown field "_contry"; /),
        expect.stringMatching(/^unknown unit "x"; /),
        expect.stringMatching(/^list does not fit funnel/),
      ],
    ],
  ])('%s', (text, expected) => {
    expect(problemsOf(text)).toEqual(expected);
  });

  test('a funnel has at most twenty steps', () => {
    const funnelOf = (steps: number) =>
      `funnel ${Array.from({ length: steps }, (_, index) => `e${index}`).join(' -> ')}`;
    expect(problemsOf(funnelOf(20))).toEqual([]);
    expect(problemsOf(funnelOf(21))).toEqual(['the funnel has 21 steps; the limit is 20; remove some steps']);
  });
});
