// Wrong queries in the words of an English question: the fixes repair them, or the hint names what
// the language has.
import { expect, test } from 'vitest';
import { compile } from '../../../src/query/compile.js';
import { CONTEXT, detailsOf, repaired } from './compiling.js';

test.each([
  // Rows of the answer.
  [
    'buy | sum event_properties.price by _os | where sum > 100',
    'buy | sum event_properties.price by _os | where total > 100',
  ],
  [
    'buy | avg event_properties.price by _os | where avg > 9',
    'buy | avg event_properties.price by _os | where average > 9',
  ],
  ['buy | unique by _country | where unique > 10', 'buy | unique by _country | where unique_count > 10'],
  ['buy | unique by _country | where users > 10', 'buy | unique by _country | where unique_count > 10'],
  // Ranges.
  ['buy | 2026-11-01 to 2026-11-15 | count', 'buy | from 2026-11-01 to 2026-11-15 | count'],
  ['buy | "2026-11-01" until "2026-11-15" | count', 'buy | from 2026-11-01 to 2026-11-15 | count'],
  ['buy | 2026-11-01..2026-11-15 | count', 'buy | from 2026-11-01 to 2026-11-16 | count'],
  ['buy | 2026-11-01 - 2026-11-30 | count', 'buy | from 2026-11-01 to 2026-12-01 | count'],
  ['buy | from 2026-11-01 through 2026-11-15 | count', 'buy | from 2026-11-01 to 2026-11-16 | count'],
  ['buy | in November 2026 | count', 'buy | from 2026-11-01 to 2026-12-01 | count'],
  ['buy | dec 2025 | count', 'buy | from 2025-12-01 to 2026-01-01 | count'],
  ['buy | in 2026-02 | count', 'buy | from 2026-02-01 to 2026-03-01 | count'],
  // Conditions.
  [
    'buy | sum event_properties.price where _os = "x" by day',
    'buy | where _os = "x" | sum event_properties.price by day',
  ],
  ['buy | unique if _os = "x"', 'buy | where _os = "x" | unique'],
  ['funnel a[_path startswith "/x"] -> b', 'funnel a[_path starts with "/x"] -> b'],
  ['funnel a[_path ends_with "/x"] -> b', 'funnel a[_path ends with "/x"] -> b'],
  // Groups.
  ['buy | weekday', 'buy | by weekday'],
  ['buy | count weekday', 'buy | count by weekday'],
  ['buy | count hour_of_day | last 30d', 'buy | count by hour_of_day | last 30d'],
  ['buy | percent by _country', 'buy | count by _country | share'],
  ['buy | percentage of _os | last 30d', 'buy | count by _os | share | last 30d'],
  // Sources.
  ['funnel steps a, b | last 30d', 'funnel a -> b | last 30d'],
  ['funnel from a to b | last 30d', 'funnel a -> b | last 30d'],
  ['retention of signup | last 8w', 'retention signup | last 8w'],
  ['cohort retention signup | last 8w', 'retention signup | last 8w'],
  ['cohort retention for signup', 'retention signup'],
  ['retention signup buy | last 8w', 'retention signup returning buy | last 8w'],
  ['retention signup buy by week', 'retention signup returning buy by week'],
  ['paths after signup | last 30d', 'paths from signup | last 30d'],
  ['paths starting with signup', 'paths from signup'],
  ['paths before buy | last 30d', 'paths to buy | last 30d'],
  ['paths leading to buy', 'paths to buy'],
  ['users who did buy | count', 'users | where count(buy) > 0 | count'],
  ['people that have signed_up', 'users | where count(signed_up) > 0'],
  ['active users | last 30d by day', '* | unique | last 30d | by day'],
  ['DAU for the last 30 days', '* | unique by day | last 30 days'],
  ['wau last 12w by _country', '* | unique by week | last 12w | by _country'],
  ['weekly active users | last 12w', '* | unique by week | last 12w'],
  ['show events', 'inspect *'],
  ['event types', 'inspect *'],
  ['show fields', 'fields'],
  ['fields buy | last 30d', 'inspect buy | last 30d'],
  ['properties of buy', 'inspect buy'],
  ['describe "checkout: done"', 'inspect "checkout: done"'],
  ['top events | last 7d', '* | count by event_type | top 10 | last 7d'],
  ['top 5 countries', '* | count by _country | top 5'],
  ['signup last week by day', 'signup | last week | by day'],
  ['signup today by hour', 'signup | today | by hour'],
  ['formula buy / view | by day', 'formula count(buy) / count(view) | by day'],
  ['formula buy / view by day', 'formula count(buy) / count(view) by day'],
])('the fixes repair %s', (text, expected) => {
  expect(repaired(text)).toBe(expected);
  expect(detailsOf(expected)).toEqual([]);
});

test.each([
  'buy | avg event_properties.price by _os | where count > 20',
  'buy | count by _os | where sum > 20',
  'buy | smarch 2026 | count',
  'buy | week',
  'buy | percent of visitors',
  'retention signup returning | last 8w',
])('no fix asks something else than %s', (text) => {
  expect(detailsOf(text)).not.toEqual([]);
  expect(detailsOf(text).filter(({ fix }) => fix)).toEqual([]);
});

test.each([
  ['buy | avg event_properties.price by _os | where count > 20', 'behind the aggregate, by its column average;'],
  ['view | bounce rate', 'its name is bounce_rate; it is a column of sessions by day'],
  ['view | last 30d | conversion rate', 'funnel page_view -> purchase'],
])('the hint of %s names the way', (text, hint) => {
  expect(detailsOf(text)[0]?.hint).toContain(hint);
});

test('the hint of a period behind count has no unique, which takes none', () => {
  expect(detailsOf('buy | count day')[0]?.hint).toBe('write count by day');
});

test('a property that has the name of an aggregate is not taken for a column', () => {
  const text = 'buy | sum event_properties.price by _os | where sum > 20';
  const context = { ...CONTEXT, propertyKeys: ['sum'], suggestsFixes: true };
  expect(() => compile(text, context)).toThrow(
    expect.objectContaining({
      details: [expect.objectContaining({ fix: expect.objectContaining({ text: 'event_properties.sum' }) })],
    }),
  );
});
