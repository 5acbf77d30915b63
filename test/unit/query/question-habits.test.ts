// Wrong queries in the words of a question and with keys of other products' settings: the fixes
// repair them, or ask nothing else.
import { expect, test } from 'vitest';
import { define, detailsOf, repaired } from './compiling.js';

test.each([
  // Keys of settings.
  ['funnel a -> b | conversion_window: 7 days', 'funnel a -> b | window 7 days'],
  ['funnel a -> b | conversion window: 7d', 'funnel a -> b | window 7d'],
  ['funnel a -> b | conversion_window = 7d', 'funnel a -> b | window 7d'],
  ['funnel a -> b conversion_window: 7 days', 'funnel a -> b | window 7 days'],
  ['buy | breakdown: _country', 'buy | by _country'],
  ['buy | unique | breakdown: _country', 'buy | unique | by _country'],
  ['buy | group: _country', 'buy | by _country'],
  ['buy | interval: day', 'buy | by day'],
  ['buy | time_range: last 7 days', 'buy | last 7 days'],
  ['buy | date range: this month', 'buy | this month'],
  ['buy | range: 7d', 'buy | last 7d'],
  ['buy | period: last 7d', 'buy | last 7d'],
  ['funnel: a, b | last 30d', 'funnel a -> b | last 30d'],
  ['paths: from signup', 'paths from signup'],
  // Groups.
  ['buy | count split by _country', 'buy | count by _country'],
  ['buy | count breakdown by _country, day', 'buy | count by _country, day'],
  ['buy | count for each _country', 'buy | count by _country'],
  ['buy | count by each _country', 'buy | count by _country'],
  ['buy | count each day', 'buy | count by day'],
  // Aggregates.
  ['avg(price) by day last 7 days', '* | avg price by day | last 7 days'],
  ['avg(price)', '* | avg price'],
  ['p95(event_properties.price) today', '* | p95 event_properties.price | today'],
  ['count() by _country last 7d', '* | count by _country | last 7d'],
  ['buy | avg(price) by day last 7 days', 'buy | avg price by day | last 7 days'],
  ['count(buy) last 7 days', 'buy | count | last 7 days'],
  ['buy | count() by day last 7 days', 'buy | count by day | last 7 days'],
  ['buy | median of price by day', 'buy | median price by day'],
  ['buy | 95th percentile of price', 'buy | p95 price'],
  ['buy | total price', 'buy | sum price'],
  ['buy | total price by _country', 'buy | sum price by _country'],
  ['buy | total by _country', 'buy | count by _country'],
  ['buy | total events by day', 'buy | count by day'],
  ['buy | number of events by day', 'buy | count by day'],
  ['buy | total users', 'buy | unique'],
  ['buy | number of unique visitors by day', 'buy | unique by day'],
  ['total events by day', '* | count by day'],
  // Comparisons.
  ['buy | where event_properties.price is greater than 3', 'buy | where event_properties.price > 3'],
  ['buy | where event_properties.price less than 3', 'buy | where event_properties.price < 3'],
  ['buy | where event_properties.price is at least 3', 'buy | where event_properties.price >= 3'],
  ['buy | where event_properties.price at most 3', 'buy | where event_properties.price <= 3'],
  ['buy | count | week over week', 'buy | count | compare 1w'],
  ['buy | during last week', 'buy | last week'],
  // Order.
  ['buy | count by _country | sort by -count', 'buy | count by _country | sort count desc'],
  ['buy | list | sort desc', 'buy | list | sort time desc'],
  ['buy | list time | sort by -time', 'buy | list time | sort time desc'],
  ['buy | count by _country | sort desc', 'buy | count by _country | sort count desc'],
  ['buy | sum price by _country | sort asc', 'buy | sum price by _country | sort total asc'],
  // Sources.
  ['list time', '* | list time'],
  ['people buy | last 90d', 'buy | people | last 90d'],
  ['show me all buy | count', 'buy | count'],
  ['signup then buy within 7d', 'funnel signup -> buy | window 7d'],
  ['signup followed by buy | last 30d', 'funnel signup -> buy | last 30d'],
  ['buy | top _country, _os', 'buy | count by _country, _os | top 10'],
  ['buy | count group by _country and _os', 'buy | count by _country, _os'],
  ['retention first signup', 'retention signup | first'],
  ['retention first signup returning buy by week', 'retention signup returning buy by week | first'],
  ['retention signup weekly', 'retention signup by week'],
  ['retention signup returning buy monthly | last 6m', 'retention signup returning buy by month | last 6m'],
  ['weekly retention of signup', 'retention signup by week'],
  ['lifecycle signup daily', 'lifecycle signup by day'],
  ['conversion signup -> buy', 'funnel signup -> buy'],
  ['conversion rate from signup to buy by week', 'funnel signup -> buy by week'],
  ['sessions with buy', 'sessions | where event_type = "buy"'],
])('the fixes repair %s', (text, expected) => {
  expect(repaired(text)).toBe(expected);
  expect(detailsOf(expected)).toEqual([]);
});

// The newest or the largest, of profiles or of people, for each or on average.
test.each([
  'buy | sort desc',
  'buy | count by day | sort desc',
  'buy | count per user',
  'new users last 7 days',
  'sessions | where buy',
  'buy | where at least 3',
])('what %s means is not guessed', (text) => {
  expect(detailsOf(text)).not.toEqual([]);
  expect(detailsOf(text).filter(({ fix }) => fix)).toEqual([]);
});

test.each([
  ['buy | total price, tax', 'the sum of a property is sum event_properties.amount'],
  ['new users last 7 days', 'lifecycle * by week has people who are New'],
  ['returning users by week', 'lifecycle * by week has people who are New'],
])('the hint of %s names the way', (text, hint) => {
  expect(detailsOf(text)[0]?.hint).toContain(hint);
});

test('rows for each person are named by a field that exists', () => {
  expect(detailsOf('buy | count per user')[1]?.hint).toContain('rows for each person are count by distinct_id');
  expect(detailsOf('buy | count per session_id')[0]?.hint).toContain('rows for each are count … by session_id');
});

test.each([
  ['* | where power | count', '* | where cohort.power = true | count'],
  ['* | where in power | count', '* | where cohort.power = true | count'],
  ['* | where not in cohort power | count', '* | where cohort.power = false | count'],
  ['* | count by power', '* | count by cohort.power'],
  // No cohort has this name.
  ['* | where weak | count', undefined],
])('a cohort without its prefix: %s', (text, fixed) => {
  const definitions = [define('cohort', 'power', '* | where count(buy last 30d) >= 5')];
  const [{ fix } = { fix: undefined }] = detailsOf(text, { definitions });
  const at = (fix?.column ?? 1) - 1;
  expect(fix && text.slice(0, at) + fix.text + text.slice(at + fix.length)).toBe(fixed);
});
