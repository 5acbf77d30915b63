// Conversion of ClickHouse rows to an answer: cells, pages, metadata and footnotes.
import { expect, test } from 'vitest';
import { toProjectId } from '../../../src/platform/ids.js';
import type { Cell } from '../../../src/query/cell.js';
import { compile } from '../../../src/query/compile.js';
import { toAnswer, withoutStatements } from '../../../src/query-api/shape.js';

const projectId = toProjectId('00000000-0000-7000-8000-000000000001');

function answerOf(query: string, rows: unknown[][], page: { limit?: number; offset?: number; total?: number } = {}) {
  const { limit = 100, offset = 0, total = rows.length } = page;
  const compiled = compile(query, { projectId, nowMs: 0, timezone: 'UTC', limit, offset });
  return toAnswer(compiled, offset, { rows, total, rowsScanned: 5, elapsedMs: 1 });
}

test.each<[string, unknown, Cell]>([
  ['_country', '', null],
  ['_country', 'DE', 'DE'],
  ['event_properties.plan', ['', 0], ''],
  ['event_properties.plan', ['10', 0], '10'],
  ['event_properties.plan', ['10', 1], 10],
  ['event_properties.plan', ['true', 1], true],
  ['event_properties.plan', [null, 1], null],
  ['_geo_latitude', null, null],
  ['_geo_latitude', 0, 0],
  ['time', '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z'],
])('toAnswer() shows %s %j as %j', (field, value, cell) => {
  expect(answerOf(`* | list ${field}`, [[value]]).rows).toEqual([[cell]]);
});

test('toAnswer() merges property maps into one object with typed values', () => {
  const buckets = [{ b: 'text', a: '' }, { n: 1.5 }, { t: true, f: false }, ['gone']];
  expect(answerOf('* | list event_properties', [[buckets]]).rows).toEqual([
    [{ a: '', b: 'text', f: false, gone: null, n: 1.5, t: true }],
  ]);
});

test('toAnswer() keeps the key __proto__', () => {
  const buckets = [JSON.parse('{"__proto__": "x", "constructor": "y"}'), {}, {}, []];
  const [row] = answerOf('* | list event_properties', [[buckets]]).rows;
  expect(JSON.stringify(row)).toBe('[{"__proto__":"x","constructor":"y"}]');
});

test.each([
  [{ total: 250, limit: 1 }, true, true],
  [{ total: 1 }, false, false],
  [{ total: 11, offset: 10 }, true, false],
  [{ total: 12, offset: 10 }, true, true],
])('toAnswer() of the page %j has isTruncated %s and hasMore %s', (page, isTruncated, hasMore) => {
  const answer = answerOf('* | list time', [['2026-01-01T00:00:00.000Z']], page);
  expect(answer).toMatchObject({ isTruncated, hasMore });
});

test('toAnswer() drops rows that were queried for the total only', () => {
  const page = answerOf('* | count by _country | limit 5', [['DE', 1]], { offset: 7, total: 5 });
  expect(page).toMatchObject({ rows: [], total: 5, isTruncated: true, hasMore: false });
});

test('incomplete rows are listed in the metadata and a footnote', () => {
  const { rows, metadata, footnotes } = answerOf('retention a by day, _country | last 2d', [
    ['DE', '1970-01-01', 2, 0, 2, 1, 0],
    ['DE', '1970-01-01', 2, 1, 1, 0.5, 1],
    ['', '1970-01-02', 1, 0, 1, 1, 1],
  ]);
  expect(rows[0]).toEqual(['DE', '1970-01-01', 2, 0, 2, 1]);
  expect(metadata).toEqual({
    granularity: 'day',
    incomplete: [
      { _country: 'DE', cohort: '1970-01-01', period: 1 },
      { _country: null, cohort: '1970-01-02', period: 0 },
    ],
  });
  expect(footnotes).toEqual([
    'Each period is a day.',
    'Not over yet (_country, cohort, period): DE, 1970-01-01, 1; (none), 1970-01-02, 0.',
  ]);
});

test.each([
  ['funnel a -> b', 'Window: 1 hour.'],
  ['funnel a -> b | window 90m', 'Window: 90 minutes.'],
  ['paths from a | window 2w', 'Window: 14 days.'],
  ['retention a by month | window 30d', 'Window: 30 days.'],
  ['retention a', 'Each period is a week.'],
])('%s says its window or period: %s', (query, remark) => {
  expect(answerOf(query, []).footnotes).toEqual([remark]);
});

test('partial buckets of the page are listed in the metadata and a footnote', () => {
  const at = { projectId, nowMs: Date.UTC(2026, 10, 20, 9), timezone: 'UTC', limit: 100, offset: 0 };
  const compiled = compile('a | last 2d | count by day', at);
  const outcome = { total: 3, rowsScanned: 0, elapsedMs: 0 };
  const { metadata, footnotes } = toAnswer(compiled, 0, {
    ...outcome,
    rows: [
      ['2026-11-18', 1],
      ['2026-11-19', 5],
      ['2026-11-20', 2],
    ],
  });
  expect(metadata).toEqual({ partial: [{ day: '2026-11-18' }, { day: '2026-11-20' }] });
  expect(footnotes).toEqual(['Partial day: 2026-11-18, 2026-11-20.']);
  // Only those of the page are named.
  expect(toAnswer(compiled, 1, { ...outcome, rows: [['2026-11-19', 5]] }).metadata).toBeUndefined();
});

test.each([
  ['purchase | sum price', 551.5799999999999, 551.58],
  ['purchase | avg price', 12.333333333333334, 12.33333333333],
  ['purchase | sum price', 9_007_199_254_740_991, 9_007_199_254_740_991],
  ['purchase | sum price', 123_456_789_012.35001, 123_456_789_012.4],
  ['purchase | max price', 0.30000000000000004, 0.30000000000000004],
  ['formula sum(purchase, price) as total', 0.30000000000000004, 0.3],
])('%s shows %d as %d', (query, value, shown) => {
  expect(answerOf(query, [[value]]).rows).toEqual([[shown]]);
});

test('a funnel by day has incomplete_from in the metadata', () => {
  const at = { projectId, nowMs: Date.UTC(2026, 10, 20, 9), timezone: 'Europe/Berlin', limit: 100, offset: 0 };
  const outcome = { rows: [], total: 0, rowsScanned: 0, elapsedMs: 0 };
  const { metadata, footnotes } = toAnswer(compile('funnel a -> b | by day | window 2d', at), 0, outcome);
  expect(metadata).toEqual({ funnel_steps: ['a', 'b'], window_seconds: 172_800, incomplete_from: '2026-11-18' });
  expect(footnotes).toEqual(['Window: 2 days.', 'Not over yet: attempts from 2026-11-18 on.']);
  const past = compile('funnel a -> b | by week | from 2026-10-01 to 2026-11-01', at);
  expect(past.metadata).toMatchObject({ incomplete_from: '2026-10-26' });
});

test('an answer contains its unit and the number of events without it', () => {
  const at = { projectId, nowMs: Date.UTC(2026, 10, 20, 9), timezone: 'UTC', limit: 100, offset: 0 };
  const outcome = { rows: [], total: 0, rowsScanned: 0, elapsedMs: 0, withoutUnit: 7 };
  const { metadata, footnotes } = toAnswer(compile('stickiness a | unit session_id, user.plan', at), 0, outcome);
  expect(metadata).toEqual({ unit: 'session_id, user.plan', without_unit: 7 });
  expect(footnotes).toEqual(['Unit: session_id, user.plan. Events without it, which are left out: 7.']);
});

test('people of a lifecycle are those of the last complete period, which the answer names', () => {
  const at = { projectId, nowMs: Date.UTC(2026, 10, 20, 9), timezone: 'UTC', limit: 100, offset: 0 };
  const profile = [{ plan: 'pro' }, {}, {}];
  const rows = [
    [
      'ann',
      'ann',
      'ann@example.com',
      'example.com',
      '2026-11-01T00:00:00Z',
      null,
      [...profile, 1],
      '2026-11-09T00:00:00Z',
    ],
    ['d1', '', '', '', null, null, [{}, {}, {}, 0], '2026-11-09T00:00:00Z'],
  ];
  const outcome = { rows, total: 2, rowsScanned: 0, elapsedMs: 0 };
  const shaped = toAnswer(compile('lifecycle a by week | people new', at), 0, outcome);
  expect(shaped.metadata).toEqual({ people_of: '2026-11-09' });
  expect(shaped.footnotes).toEqual(['People of the period that begins on 2026-11-09.']);
  expect(shaped.rows.map((row) => row[6])).toEqual([{ plan: 'pro' }, null]);
  expect(shaped.rows[1]?.slice(0, 4)).toEqual(['d1', null, null, null]);
});

test.each([
  [
    'purchase | sum price by _country',
    [
      ['DE', 5],
      ['AT', null],
    ],
    1,
  ],
  [
    'purchase | sum price by _country',
    [
      ['DE', 5],
      [null, 0],
    ],
    0,
  ],
  ['purchase | avg price by _country', [['DE', null]], 0],
  ['retention a | sum price by day', [['2026-01-01', 1, 0, 1, 1, null, null, 0]], 1],
  ['retention a by day', [['2026-01-01', 1, 0, 1, null, 0]], 0],
])('toAnswer() of %s, rows %j, warns of sums that exceed the numbers: %i', (query, rows, count) => {
  const warnings = answerOf(query, rows).warnings.filter((warning) => warning.includes('too large'));
  expect(warnings).toHaveLength(count);
});

const TOO_LARGE = 'a result is too large for a 64-bit floating point number, and is null';

test.each<[string, unknown, readonly string[]]>([
  ['a | avg _geo_latitude', Number.POSITIVE_INFINITY, [TOO_LARGE]],
  ['a | median _geo_latitude', Number.NEGATIVE_INFINITY, [TOO_LARGE]],
  ['a | sum _geo_latitude', null, [TOO_LARGE]],
  ['formula sum(a, v) / sum(b, v)', Number.POSITIVE_INFINITY, [TOO_LARGE]],
  ['formula sum(a, v) - sum(b, v)', Number.NaN, [TOO_LARGE]],
  ['a | sum v per distinct_id | avg total', Number.NaN, [TOO_LARGE]],
  // No values.
  ['a | avg _geo_latitude', null, []],
  ['a | max _geo_latitude', Number.NaN, []],
  ['formula 1 / count(a)', null, []],
])('%s of %d is null, with the warnings %j', (query, value, warnings) => {
  expect(answerOf(query, [[value]])).toMatchObject({ rows: [[null]], warnings });
});

test('a group without a number is no number that is too large', () => {
  expect(answerOf('formula count(a) by _geo_latitude', [[Number.NaN, 3]])).toMatchObject({
    rows: [[null, 3]],
    warnings: [],
  });
});

test('a text that reads as infinity stays a text', () => {
  expect(answerOf('a | list _country', [['Infinity']])).toMatchObject({ rows: [['Infinity']], warnings: [] });
});

test('withoutStatements() leaves no statement to copy', () => {
  const at = { projectId, nowMs: Date.UTC(2026, 10, 20), timezone: 'UTC', limit: 100, offset: 0 };
  const compiled = compile('a | last 2d | count by day | compare previous', at);
  expect(compiled.eventBefore).toBeDefined();
  expect(JSON.stringify(withoutStatements(compiled))).not.toContain('SELECT');
});
