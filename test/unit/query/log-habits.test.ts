// Wrong queries of people and language models who know KQL, Splunk, PromQL, shells, or calls of
// SQL: the fixes in the answer repair them.
import { expect, test } from 'vitest';
import { compile } from '../../../src/query/compile.js';
import { QueryError } from '../../../src/query/errors.js';
import { CONTEXT, detailsOf, repaired } from './compiling.js';

test.each([
  // The problem is at the pipe behind the condition.
  ['* | where isnotnull(_referrer) | count', '* | where _referrer exists | count'],
  ['* | where contains(_path, "/a") | count', '* | where _path contains "/a" | count'],
  ['* | where match(_path, "^/a, \\d") | count', '* | where _path ~ "^/a, \\d" | count'],
  ['* | where not regexp_like(_path, "^/a") and _os = "x" | count', '* | where _path !~ "^/a" and _os = "x" | count'],
  ['* | where ilike(_path, "/tea%") | count', '* | where _path ~ "(?i)^/tea" | count'],
  ["* | where _path not ilike '%a.b' | count", '* | where _path !~ "(?i)a\\.b$" | count'],
  ['* | where upper(_country) = "DE" | count', '* | where _country ~ "(?i)^DE$" | count'],
  ['* | where time >= datetime("2026-11-01") | count', '* | where time >= 2026-11-01 | count'],
  ['* | summarize dcount(user_id) by _os | top 3 by dcount_user_id desc', '* | unique user_id by _os | top 3'],
  ['* | summarize count() by _os | sort by count_ asc', '* | count by _os | sort value asc'],
  ['* | summarize avg(price) by bin(timestamp, 1d), country', '* | avg price by day, _country'],
  ['* | project time, colour | limit 5', '* | list time, event_properties.colour | limit 5'],
  ['* | where _os !in ("x") and _path !startswith "/a"', '* | where _os not in ("x") and _path not starts with "/a"'],
  ['purchase | percentile 95 price by day', 'purchase | p95 price by day'],
  ['funnel (page_view -> signup)', 'funnel page_view -> signup'],
  ['* | where like(_path, "/tea%") | count', '* | where _path starts with "/tea" | count'],
  ['* | where notLike(_path, "%tea%") | count', '* | where _path not contains "tea" | count'],
  ['* | where lower(_country) = "de" | count', '* | where _country ~ "(?i)^de$" | count'],
  ['* | where time > now() - 7d | count', '* | last 7d | count'],
  ["* | where time >= now() - interval '7 days' | count", '* | last 7 days | count'],
  ['* | where _os = "x" and timestamp > ago(30d) | count', '* | last 30d | where _os = "x" | count'],
  ['* | where time > ago(7d) and _os = "A AND B" | count', '* | last 7d | where _os = "A AND B" | count'],
  [
    '* | where _os = "x" and not (_city = "y" and time > ago(7d) and _path = "/") | count',
    '* | where _os = "x" and not (_city = "y" and time > 2026-11-13T09:30:00Z and _path = "/") | count',
  ],
  ['* | where _os = "x" or time > ago(7d) | count', '* | where _os = "x" or time > 2026-11-13T09:30:00Z | count'],
  ['* | where time >= today() | count', '* | today | count'],
  ['* | where date(time) = "2026-11-30" | count', '* | from 2026-11-30 to 2026-12-01 | count'],
  ['users | where first_seen > now() - 7d', 'users | where first_seen > 2026-11-13T09:30:00Z'],
  ['users | where last_seen < 2 weeks ago', 'users | where last_seen < 2026-11-06T09:30:00Z'],
  ['users | where last_seen < 2 quarters ago', 'users | where last_seen < 2026-05-20T09:30:00Z'],
  ['users | where first_seen > now() - interval 1 quarter', 'users | where first_seen > 2026-08-20T09:30:00Z'],
  ['users | where first_seen > last 1 quarter', 'users | where first_seen > 2026-08-20T09:30:00Z'],
  ['signup | where time > now() - interval 1 quarter | count', 'signup | last 3mo | count'],
  ['users | where last_seen < now() - interval 2 week', 'users | where last_seen < 2026-11-06T09:30:00Z'],
  ['users | where first_seen > yesterday', 'users | where first_seen > 2026-11-19'],
  ['users | where last_seen < now()', 'users | where last_seen < 2026-11-20T09:30:00Z'],
  ['* | count | since yesterday', '* | count | since 2026-11-19'],
  ['* | count | from yesterday to today', '* | count | yesterday'],
  ['* | from now-30d to now | count', '* | last 30d | count'],
  ['* | -30d | count', '* | last 30d | count'],
  ['purchase | count by bucket price', 'purchase | count by bucket(price, 10)'],
  ['purchase | count by bucket price 50, day', 'purchase | count by bucket(price, 50), day'],
  ['purchase | count by bin(price, 5)', 'purchase | count by bucket(price, 5)'],
  ['* | count by bin(1h)', '* | count by hour'],
  ['* | summarize count() by bin(timestamp, 1d), _country', '* | count by day, _country'],
  ['* | summarize users = dcount(distinct_id) by day', '* | unique distinct_id by day'],
  ['* | stats dc(user_id) as n by _country | sort - n', '* | unique user_id by _country | sort - unique_count'],
  ['* | timechart span=1h count by _country', '* | count by hour, _country'],
  ['* | timechart count', '* | count by day'],
  ['* | count by _country | sort -n', '* | count by _country | sort value asc'],
  ['* | unique by _country desc', '* | unique by _country | sort unique_count desc'],
  ["* | where _os in ('x','y') group by _platform", "* | where _os in ('x','y') | count by _platform"],
  ["purchase where _country = 'DE' group by day", "purchase | where _country = 'DE' | count by day"],
  ['purchase | count_distinct(user_id) by day', 'purchase | unique user_id by day'],
  ['purchase | quantile(0.95)(price)', 'purchase | p95 price'],
  ['purchase | sum(price) as revenue by day', 'purchase | sum price by day'],
  ['purchase | count every 1d', 'purchase | count by day'],
  ['purchase | countif(_country = "DE")', 'purchase | where _country = "DE" | count'],
  ['users | select email, plan', 'users | list email, plan'],
  ['signup | project time, _path', 'signup | list time, _path'],
  ['funnel(page_view, signup, purchase)', 'funnel page_view -> signup -> purchase'],
  ['formula count(a where price > 5) / count(a)', 'formula count(a[price > 5]) / count(a)'],
  ['formula sum(purchase.price) / count(purchase)', 'formula sum(purchase, price) / count(purchase)'],
  ['count(purchase) / count(signup)', 'formula count(purchase) / count(signup)'],
  ['sum(purchase.price) by day', 'purchase | sum price by day'],
  ['count_over_time(purchase[7d])', 'purchase | last 7d | count'],
  // The word of a stage, and no property of that name.
  ['funnel a -> b | window = 7d', 'funnel a -> b | window 7d'],
  ['* | last = 30d | count by _os | sort = count | limit = 10', '* | last 30d | count by _os | sort count | limit 10'],
  ['* | unique by week | unit = session_id | top = 3', '* | unique by week | unit session_id | top 3'],
  ['FROM events | WHERE _os == "x" | STATS COUNT(*) BY _country', '* | where _os = "x" | count by _country'],
  ['* | count by _os | top 10 by count', '* | count by _os | sort count desc | limit 10'],
  ['* | sum price by _os | top 3 by _os asc', '* | sum price by _os | sort _os asc | limit 3'],
  // The name of an aggregate is the name of its column.
  ['* | summarize n = count() by _os | where n > 20 | top 3', '* | count by _os | where count > 20 | top 3'],
  ['* | stats dc(user_id) as users by _os | sort users', '* | unique user_id by _os | sort unique_count'],
  ['* | stats count as n by _os | where n > 5 and _os != "n"', '* | count by _os | where count > 5 and _os != "n"'],
  ['* | summarize revenue = sum(price) by _os | take 5', '* | sum price by _os | limit 5'],
  [
    'select _os, count(*)\n  from signup\n  group by _os\n  order by count(*) desc',
    'signup | count by _os | sort count desc',
  ],
  [
    "SELECT COUNT(DISTINCT user_id) FROM purchase WHERE time >= now() - interval '30 days'",
    'purchase | last 30 days | unique user_id',
  ],
])('the fixes repair %s', (text, expected) => {
  expect(repaired(text)).toBe(expected);
  if (!expected.endsWith('- unique_count')) expect(detailsOf(expected)).toEqual([]);
});

test.each([
  '* | where like(_path, "a_b%") | count',
  'purchase | count by bin(price, 5m)',
  'purchase | percentile(75, price)',
  'signup | select count(*)',
  'rate(purchase[5m])',
  'purchase | percentile 42 price',
  '* | mau by day',
  '* | where _path ilike "a_b"',
  'select distinct _country from signup',
  '* | sum price by _os | top 5 by count',
])('no fix asks something else than %s', (text) => {
  expect(detailsOf(text)).not.toEqual([]);
  expect(detailsOf(text).filter(({ fix }) => fix)).toEqual([]);
});

test.each([
  'select _os, sum(price) from a group by _os having sum(price) > 100 limit 5',
  '* | summarize n = count() by _os | where n > 20',
])('all problems of %s are one, as one fix solves them', (text) => {
  expect(detailsOf(text)).toHaveLength(1);
});

test.each([
  ['signup | count | timezone "Europe/Berlin"', 'the request names it'],
  ['signup | count by day | tz Europe/Berlin', 'the request names it'],
  ['choice checkout | result', 'the form is: results purchase'],
])('the hint of %s names the way', (text, hint) => {
  expect(detailsOf(text)[0]?.hint).toContain(hint);
});

test('the date of a fix is that of the time zone of the query', () => {
  const fixOf = (timezone: string) => {
    try {
      compile('users | where first_seen > yesterday', { ...CONTEXT, timezone, suggestsFixes: true });
    } catch (error) {
      if (error instanceof QueryError) return error.details[0]?.fix?.text;
      throw error;
    }
    return undefined;
  };
  expect([fixOf('Pacific/Kiritimati'), fixOf('Pacific/Pago_Pago')]).toEqual(['2026-11-19', '2026-11-18']);
});
