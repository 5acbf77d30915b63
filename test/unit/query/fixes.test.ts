// Wrong queries of people who know SQL, other products or plain English: the fixes in the answer
// repair them.
import { expect, test } from 'vitest';
import { SESSION_COLUMN_FORMS } from '../../../src/query/language.js';
import { detailsOf, repaired } from './compiling.js';

test.each([
  ['signup | group by _country', 'signup | by _country'],
  ['signup | count group by _country', 'signup | count by _country'],
  ['signup | count by _country | order by count desc', 'signup | count by _country | sort count desc'],
  ['* | where _path like "/docs/%" | count', '* | where _path starts with "/docs/" | count'],
  ['* | where _path like "%pricing%" | count', '* | where _path contains "pricing" | count'],
  ['* | where _path not like "%.png" | count', '* | where _path not ends with ".png" | count'],
  [
    '* | where event_properties.price between 5 and 10 | count',
    '* | where event_properties.price >= 5 and event_properties.price <= 10 | count',
  ],
  ['* | where 1 < amount < 3', '* | where event_properties.amount > 1 and event_properties.amount < 3'],
  ['a[10 >= price > -2.5 and b = 1]', 'a[price <= 10 and price > -2.5 and b = 1]'],
  [
    '* | where not amount between 1 and 5 | count',
    '* | where not (event_properties.amount >= 1 and event_properties.amount <= 5) | count',
  ],
  ['a[price not between 1 and 5] | count', 'a[not (price >= 1 and price <= 5)] | count'],
  ['* | where not count(a) between 1 and 3 | count', '* | where not (count(a) >= 1 and count(a) <= 3) | count'],
  [
    '* | where amount between 1 and 5 | count',
    '* | where event_properties.amount >= 1 and event_properties.amount <= 5 | count',
  ],
  [
    '* | where amount between 1 and 5 and colour is null | count',
    '* | where event_properties.amount >= 1 and event_properties.amount <= 5 and event_properties.colour not exists | count',
  ],
  ['* | where colour like "%red%" | count', '* | where event_properties.colour contains "red" | count'],
  ['* | where _referrer is null | count', '* | where _referrer not exists | count'],
  ['* | where _referrer IS NOT NULL | count', '* | where _referrer exists | count'],
  ['* | where _referrer = null | count', '* | where _referrer not exists | count'],
  ['* | where _referrer is set and _city is not set', '* | where _referrer exists and _city not exists'],
  ['* | where _referrer is not empty or _city is empty', '* | where _referrer exists or _city not exists'],
  ['* | where _country == "DE"', '* | where _country = "DE"'],
  [
    '* | where amount >= 5 or amount is null',
    '* | where event_properties.amount >= 5 or event_properties.amount not exists',
  ],
  ['* | where _os = "x" and where _city = "y"', '* | where _os = "x" and _city = "y"'],
  ['* | where price ≥ 5 | count', '* | where event_properties.price >= 5 | count'],
  ['* | count By _os, day', '* | count by _os, day'],
  ['* | where _country === "DE" & _path <> "/"', '* | where _country = "DE" and _path != "/"'],
  ['* | where a="x" || b="y"', '* | where event_properties.a="x" or event_properties.b="y"'],
  ['* | where a="x" && b="y"', '* | where event_properties.a="x" and event_properties.b="y"'],
  ['* | where _os="x" || _city="y" || _path="z" | count', '* | where _os="x" or _city="y" or _path="z" | count'],
  ['* | where _os="a || b" || count(signup) > 3', '* | where _os="a || b" or count(signup) > 3'],
  ['page_view[_os="x" || plan="y"] | count', 'page_view[_os="x" or plan="y"] | count'],
  ['funnel a[_os="x" || _path="y"] -> b', 'funnel a[_os="x" or _path="y"] -> b'],
  ['signup || count', 'signup | count'],
  ['signup | where _os = "x" || count by day', 'signup | where _os = "x" | count by day'],
  ['signup | where time > last 7d', 'signup | last 7d'],
  ['signup | where user.first_seen > last 7d | count', 'signup | where user.first_seen > 2026-11-13T09:30:00Z | count'],
  ['users | where first_seen < last 2 months', 'users | where first_seen < 2026-09-20T09:30:00Z'],
  ['a[user.first_seen > 7d] | last 30d', 'a[user.first_seen > 2026-11-13T09:30:00Z] | last 30d'],
  ['signup | count per user | avg by day', 'signup | count per distinct_id | avg count by day'],
  ['purchase | sum price per distinct_id | median', 'purchase | sum price per distinct_id | median total'],
  ['signup | where exists(_referrer)', 'signup | where _referrer exists'],
  ['signup | where not exists(plan) and _os = "x"', 'signup | where event_properties.plan not exists and _os = "x"'],
  ['signup | where isNull(_path) or not_empty(_os)', 'signup | where _path not exists or _os exists'],
  ['signup | where contains(_path,"x")', 'signup | where _path contains "x"'],
  ['signup | where not startsWith(_path, "/, (")', 'signup | where _path not starts with "/, ("'],
  ['funnel a[ends_with(name, "x")] -> b', 'funnel a[name ends with "x"] -> b'],
  ['purchase | count by bucket(price)', 'purchase | count by bucket(price, 10)'],
  ['purchase | count by bucket(price 5), day', 'purchase | count by bucket(price, 5), day'],
  ['* | where _country <> "DE"', '* | where _country != "DE"'],
  ['* | where _country = "DE" && _city = "Bonn"', '* | where _country = "DE" and _city = "Bonn"'],
  ['signup | count distinct user_id', 'signup | unique user_id'],
  ['signup | count(distinct user_id)', 'signup | unique user_id'],
  ['signup | uniq user_id', 'signup | unique user_id'],
  ['signup | uniq(user_id) by day', 'signup | unique user_id by day'],
  ['signup | count(*)', 'signup | count'],
  ['signup | count(*) by day', 'signup | count by day'],
  ['purchase | sum(event_properties.price) by day', 'purchase | sum event_properties.price by day'],
  ['purchase | average event_properties.price', 'purchase | avg event_properties.price'],
  ['purchase | p75 event_properties.price', 'purchase | p90 event_properties.price'],
  ['select count(*) from signup', 'signup | count'],
  [
    'SELECT _country, count(*) FROM events WHERE _os = "iOS" GROUP BY _country LIMIT 5',
    '* | where _os = "iOS" | count by _country | limit 5',
  ],
  ['select * from signup limit 10', 'signup | list | limit 10'],
  ['select user_id, time from signup limit 10', 'signup | list user_id, time | limit 10'],
  ['select sum(price), _country from purchase group by _country', 'purchase | sum price by _country'],
  ['signup | count | compare to last year', 'signup | count | compare 1y'],
  ['signup | count | vs previous period', 'signup | count | compare previous'],
  ['signup | count | compare yoy', 'signup | count | compare 1y'],
  ['signup | count | vs WoW', 'signup | count | compare 1w'],
  ['signup | count | vs yesterday', 'signup | count | compare 1d'],
  ['signup | count | compare to 2 weeks ago', 'signup | count | compare 2weeks'],
  ['signup | count | last 3M', 'signup | count | last 3mo'],
  ['funnel signup, purchase', 'funnel signup -> purchase'],
  ['funnel signup > purchase > refund', 'funnel signup -> purchase -> refund'],
  ['funnel signup then purchase', 'funnel signup -> purchase'],
  ['funnel signup to purchase | window 1d', 'funnel signup -> purchase | window 1d'],
  ['funnel signup -> purchase within 3 days', 'funnel signup -> purchase | window 3 days'],
  ['funnel signup -> purchase | within 3 days', 'funnel signup -> purchase | window 3 days'],
  ['signup | top 10 by _path', 'signup | count by _path | top 10'],
  ['signup | top 10 _path', 'signup | count by _path | top 10'],
  ['signup | unique users', 'signup | unique'],
  ['signup | unique users by day', 'signup | unique by day'],
  ['signup | count per day', 'signup | count by day'],
  ['signup | count daily', 'signup | count by day'],
  ['signup | daily', 'signup | by day'],
  ['signup | count by weekly', 'signup | count by week'],
  ['signup | percentile(event_properties.price, 0.5)', 'signup | median event_properties.price'],
  ['signup | percentile(event_properties.price, 99)', 'signup | p99 event_properties.price'],
  ['signup | p50 event_properties.price', 'signup | median event_properties.price'],
  ['signup | count per user | p90 count', 'signup | count per distinct_id | p90 count'],
  ['* | count per session | avg count', '* | count per session_id | avg count'],
  ['signup | count by dayofweek', 'signup | count by weekday'],
  ['signup | unique by day | moving 7d', 'signup | unique by day | rolling 7d'],
  ['signup | count by day | running total', 'signup | count by day | cumulative'],
  ['signup | count by _country | percentage', 'signup | count by _country | share'],
  ['signup | since 3 days', 'signup | last 3 days'],
  ['signup | since 2 weeks ago', 'signup | last 2 weeks'],
  ['signup | past 7 days', 'signup | last 7 days'],
  ['signup | in the last 30 days | count', 'signup | last 30 days | count'],
  ['signup | filter _country = "DE"', 'signup | where _country = "DE"'],
  ['signup count by day', 'signup | count by day'],
  ['choice a | results b | plan 10', 'choice a | results b | plan 10%'],
  ['choice a | results b | plan 0.05', 'choice a | results b | plan 5%'],
  ['choice a | results b | plan 2.5 percent', 'choice a | results b | plan 2.5%'],
  ['choice a | results b | sample size for 10%', 'choice a | results b | plan 10%'],
  ['signup | last 7d count', 'signup | last 7d | count'],
  ['signup | cuont by day', 'signup | count by day'],
  ['signup | count by _contry', 'signup | count by _country'],
  ['signup | count by session.landing_pth', 'signup | count by session.landing_path'],
  ['signup | count by _country | sort cuont', 'signup | count by _country | sort count'],
  ['funl signup -> purchase', 'funnel signup -> purchase'],
  ['signup | count by favourite_colour', 'signup | count by event_properties.favourite_colour'],
  ['signup | where favourite_colour = "red"', 'signup | where event_properties.favourite_colour = "red"'],
  ['signup | last weak', 'signup | last week'],
  ['formula cuont(signup)', 'formula count(signup)'],
  ['signup | cuont by _country | srt count', 'signup | count by _country | sort count'],
  ['purchase | sum(price) per day', 'purchase | sum price by day'],
  ['sessions | count by landing_path', 'sessions | count by session.landing_path'],
  ['signup | count by page', 'signup | count by _path'],
  ['signup | count by user', 'signup | count by distinct_id'],
  ['signup | where email = "a@example.com"', 'signup | where user.email = "a@example.com"'],
  ['* | where event = "signup" and timestamp > 2026-11-01', '* | where event_type = "signup" and time > 2026-11-01'],
  ['signup | count by last_session.country', 'signup | count by user_last_session.country'],
  ['signup | count by event.price', 'signup | count by event_properties.price'],
  ['signup | count by utm_source', 'signup | count by session.utm_source'],
  [
    'select _path, sum(price) revenue from purchase group by 1 having revenue > 5 order by sum(price) desc',
    'purchase | sum price by _path | where total > 5 | sort total desc',
  ],
  ['any event | count', '* | count'],
  ['signup or purchase | count', '(signup, purchase) | count'],
  ['signup, purchase, refund | unique', '(signup, purchase, refund) | unique'],
  ['count(signup)', 'signup | count'],
  ['count of signup by day', 'signup | count by day'],
  ['user flow from signup', 'paths from signup'],
  ['experiment checkout | results pay', 'choice checkout | results pay'],
  ['choice checkout | goal pay', 'choice checkout | results pay'],
  ['choice checkout | results pay | guardrail error', 'choice checkout | results pay | guard error'],
  ['funnel a --> b', 'funnel a -> b'],
  ['funnel a -> b without c', 'funnel a -> b exclude c'],
  ['funnel a -> b | without c', 'funnel a -> b | exclude c'],
  ['funnel a -> b | unordered', 'funnel a -> b | order any'],
  ['funnel a -> b | people 2', 'funnel a -> b | people at 2'],
  ['funnel a -> b | people lost at 1', 'funnel a -> b | people lost after 1'],
  ['retention signup returns purchase', 'retention signup returning purchase'],
  ['formula count a / unique b', 'formula count(a) / unique(b)'],
  ['signup | 7d', 'signup | last 7d'],
  ['signup | 30 days', 'signup | last 30 days'],
  ['signup | last 1hr', 'signup | last 1h'],
  ['signup | last 15min', 'signup | last 15m'],
  ['signup | last 7D', 'signup | last 7d'],
  ['signup | last hour', 'signup | last 1 hour'],
  ['signup | previous week', 'signup | last week'],
  ['signup | ytd', 'signup | this year'],
  ['signup | month to date', 'signup | this month'],
  ['signup | from 2026-11-01', 'signup | since 2026-11-01'],
  ['signup | from 2026-11-01 to now', 'signup | since 2026-11-01'],
  ['signup | count by toStartOfHour(time)', 'signup | count by hour'],
  ['signup | count by toDate(time)', 'signup | count by day'],
  ['signup | count by hour of day', 'signup | count by hour_of_day'],
  ['signup | count by day of week', 'signup | count by weekday'],
  ['signup | count by date', 'signup | count by day'],
  ['signup | count over time', 'signup | count by day'],
  ['signup | count by (day)', 'signup | count by day'],
  ['signup | count by _country and _platform', 'signup | count by _country, _platform'],
  ['signup | count by _country | head 10', 'signup | count by _country | limit 10'],
  ['signup | take 10', 'signup | list | limit 10'],
  ['signup | count by _country | first 10', 'signup | count by _country | limit 10'],
  ['signup | count by _country | sort -count', 'signup | count by _country | sort count desc'],
  ['signup | count by _country | order count descending', 'signup | count by _country | sort count desc'],
  ['signup | count by _country | top 5 and others', 'signup | count by _country | top 5 other'],
  ['signup | list *', 'signup | list'],
  ['signup | show all', 'signup | list'],
  ['signup | summarize count() by _country', 'signup | count by _country'],
  ['signup | count as n', 'signup | count'],
  ['signup | count by _country | % of total', 'signup | count by _country | share'],
  ['signup | _country = "DE"', 'signup | where _country = "DE"'],
  ['signup | where _os = "iOS" | and _country = "DE"', 'signup | where _os = "iOS" | where _country = "DE"'],
  ['signup | where _country equals "DE"', 'signup | where _country = "DE"'],
  ['signup | where _path does not contain "docs"', 'signup | where _path not contains "docs"'],
  ['signup | where _path startswith "/docs"', 'signup | where _path starts with "/docs"'],
  ['signup | where _country not null', 'signup | where _country exists'],
  ['signup | where event_properties.price => 5', 'signup | where event_properties.price >= 5'],
  ['signup | where event_properties.price > 1,000', 'signup | where event_properties.price > 1000'],
  ['signup | where event_properties.price > .5', 'signup | where event_properties.price > 0.5'],
  ['signup | where _country = `DE`', 'signup | where _country = "DE"'],
  ['signup | where _os = "a", _country = "DE"', 'signup | where _os = "a" and _country = "DE"'],
  ['signup | where _path = "/a" or "/b"', 'signup | where _path in ("/a", "/b")'],
  ['signup | where _path in "/a"', 'signup | where _path in ("/a")'],
  ['signup | where count(pay) between 1 and 3', 'signup | where count(pay) >= 1 and count(pay) <= 3'],
  ['signup | where count(pay, last 30d) > 3', 'signup | where count(pay last 30d) > 3'],
  ['signup | where did pay', 'signup | where count(pay) > 0'],
  ['signup | first 5', 'signup | list | limit 5'],
  ['signup | last seven days | count', 'signup | last 7 days | count'],
  ['funnel a -> b | window Two weeks', 'funnel a -> b | window 2 weeks'],
  ['purchase | where 10 < price | count', 'purchase | where event_properties.price > 10 | count'],
  [
    'purchase | where "DE"=_country and (not 5 >= price or 1 != x)',
    'purchase | where _country = "DE" and (not event_properties.price <= 5 or event_properties.x != 1)',
  ],
  ['funnel a[10 <= price] -> b', 'funnel a[price >= 10] -> b'],
])('the fixes repair %s', (text, expected) => {
  expect(repaired(text)).toBe(expected);
  expect(detailsOf(expected)).toEqual([]);
});

test.each([
  'funnel a -> b | where rate > 0.3',
  'funnel a -> b | compare previous | where change_users > 0',
  'retention a | where cohort_size > 3',
  '* | where unique_count > 3 | unique by _country',
  '* | where day >= "2026-11-15" | count by day',
  '* | latest _path | where last_value = "/"',
  'lifecycle a | where status = "New"',
])('a column of the answer becomes no property of events: %s', (text) => {
  const details = detailsOf(text);
  expect(details.map(({ fix }) => fix)).toEqual([undefined]);
  expect(details[0]?.hint).toMatch(
    /^it is a column of the answer and no field of events; only the rows of an aggregate or a formula /,
  );
});

test.each([
  ['bounce_rate', 'formula unique(page_view[session.event_count = 1]) / unique(page_view) as bounce_rate'],
  ['avg_duration', 'sessions | avg session.duration by session.utm_source'],
])('a column of sessions by day is said to be one, with its form by a field: %s', (column, form) => {
  for (const text of [`sessions | where ${column} > 0.3`, `sessions | by session.country | where ${column} > 0.3`]) {
    const [detail] = detailsOf(text);
    expect(detail?.fix).toBeUndefined();
    expect(detail?.hint).toContain(`it is a column of sessions by day; by a field: ${form}`);
  }
  const formula = `formula count(a) as ${column} | by day`;
  expect(detailsOf(`formula count(a[${column} > 1]) as ${column} | by day`)).toEqual([]);
  expect(detailsOf(`${formula} | where ${column} > 1`)).toEqual([]);
});

test('a column of the answer in by is said to be no group', () => {
  const [detail] = detailsOf('a | count per distinct_id | count by count');
  expect(detail?.hint).toContain('where unique_count > 20, and none are grouped by them;');
});

test('a group of time in a condition is no unknown name that is nearest to itself', () => {
  const [detail] = detailsOf('signup | where hour_of_day = 5');
  expect(detail?.hint).toBe(
    'it is a group of time: count by hour_of_day | where hour_of_day = … filters its rows; a property is written event_properties.hour_of_day',
  );
  expect(detailsOf('signup | count by hour_of_day | where hour_of_day = 5')).toEqual([]);
});

test('an ambiguous problem has no fix', () => {
  // _app_version is no misspelling of _os_version.
  for (const text of [
    'signup | count by _app_version',
    'signup | where _device = "mobile"',
    'signup | where weekday = 1',
    'signup | where cohort = "power"',
    'signup | totel',
    'funnel signup',
    'signup | where',
    'signup | sum',
    'formula count(a), count(a)',
    'signup | count by day | compare previous, 1y',
    '* | where _path ~ "("',
    // No query asks for these.
    'select distinct _country from signup',
    'select count(*), sum(price) from purchase',
    'select count(*) filter (where a) from signup',
    'signup | count | compare to the best month',
  ]) {
    expect(detailsOf(text)).not.toEqual([]);
    expect(detailsOf(text).filter(({ fix }) => fix)).toEqual([]);
  }
});

test.each([
  [
    'signup | where _title is "group by x" && _path is null',
    'signup | where _title = "group by x" and _path not exists',
  ],
  [
    "signup | where _title = 'a' && _path is null and _os = 'x && y'",
    "signup | where _title = 'a' and _path not exists and _os = 'x && y'",
  ],
  ['signup | where _path = "a"||_os = "b"', 'signup | where _path = "a" or _os = "b"'],
  ['signup || count', 'signup | count'],
  ['||count', '|count'],
])('a fix leaves texts and names as they are: %s', (text, expected) => {
  expect(repaired(text)).toBe(expected);
  expect(detailsOf(expected)).toEqual([]);
});

test.each([
  'signup | count by day | rolling 7d avg',
  'signup | count by day | cumulative sum',
  // Neither half alone is meant.
  'a | where not 1 < price < 3',
  'a | where 1 < price > 3',
])('a fix that leaves its own problem is not suggested: %s', (text) => {
  const details = detailsOf(text);
  expect(details).not.toEqual([]);
  expect(details.map(({ fix }) => fix)).toEqual(details.map(() => undefined));
});

test('a fix has line and column in a text of several lines', () => {
  const [detail] = detailsOf('# größe 🎉\nsignup\n| count by _contry');
  expect(detail?.fix).toEqual({ line: 3, column: 12, length: 7, text: '_country' });
});

test.each([
  ['signup | p25 event_properties.price', 'percentiles are median, p90, p95 and p99'],
  ['signup | percentile(event_properties.price, 5)', 'percentiles are median, p90, p95 and p99'],
  ['signup | until 2026-01-01', 'the form is: from 2026-01-01 to 2026-02-01'],
  ['* | count by received_at', 'the time at which an event arrived is not a field; time is when it happened'],
  [
    'sessions | bounce_rate by session.country',
    'it is a column of sessions by day; by a field: formula unique(page_view[session.event_count = 1]) / unique(page_view) as bounce_rate | unit session_id | by session.utm_source',
  ],
  [
    'sessions | median avg_duration by day',
    'it is a column of sessions by day; by a field: sessions | avg session.duration by session.utm_source',
  ],
])('%s has no fix that would ask something else, and a hint', (text, hint) => {
  const details = detailsOf(text);
  expect(details.map((detail) => [detail.hint, detail.fix])).toEqual([[hint, undefined]]);
});

test.each([...SESSION_COLUMN_FORMS.values()])('the query of this hint compiles: %s', (hint) => {
  expect(detailsOf(hint.slice(hint.indexOf(': ') + 2))).toEqual([]);
});

test('the hint of a mean names the fix', () => {
  const [detail] = detailsOf('signup | mean event_properties.price');
  expect([detail?.hint, detail?.fix?.text]).toEqual(['the mean is avg: avg event_properties.amount', 'avg']);
});

test.each([
  ['funnel a > b > c', '-> b ->'],
  ['signup | last 30 dayz', 'days'],
])('the fix of %s replaces whole words and signs: %s', (text, fix) => {
  expect(detailsOf(text)[0]?.fix?.text).toBe(fix);
});
