// Wrong queries with the names and operators of other products, with keys of objects, and with a
// source that is said in words: the fixes in the answer repair them.
import { expect, test } from 'vitest';
import { compile } from '../../../src/query/compile.js';
import { QueryError, type QueryErrorDetail } from '../../../src/query/errors.js';
import { CONTEXT, define, detailsOf, repaired } from './compiling.js';

test.each([
  // PostHog's own properties are fields here.
  ['a | where properties.$browser = "Chrome"', 'a | where _browser = "Chrome"'],
  ['a | where properties.$current_url contains "x"', 'a | where _url contains "x"'],
  ['a | count by properties.$pathname', 'a | count by _path'],
  ['a | count by event.properties.$os_version', 'a | count by _os_version'],
  ['a | where properties.$session_id exists', 'a | where session_id exists'],
  ['a | where person.properties.$email = "x"', 'a | where user.email = "x"'],
  ['a | where properties.$plan = "x"', 'a | where event_properties.$plan = "x"'],
  ['a | where plan is_set', 'a | where event_properties.plan exists'],
  ['a | where _city is_not_set', 'a | where _city not exists'],
  ['a | where _city is_not "x"', 'a | where _city != "x"'],
  ['a | where _city exact "x"', 'a | where _city = "x"'],
  ['a | where _city icontains "x.y"', String.raw`a | where _city ~ "(?i)x\.y"`],
  ['a | where _city not_icontains "x"', 'a | where _city !~ "(?i)x"'],
  ['a | where _city regex "^x"', 'a | where _city ~ "^x"'],
  ['a | where _city not_regex "^x"', 'a | where _city !~ "^x"'],
  // Keys of objects.
  ['a | where event_properties["plan"] = "x"', 'a | where event_properties.plan = "x"'],
  ["a | count by properties['plan']", 'a | count by event_properties.plan'],
  ['a | where user["plan"] = "x"', 'a | where user.plan = "x"'],
  ["a | where properties->>'plan' = 'x'", "a | where event_properties.plan = 'x'"],
  // The table before its column.
  ['signup | where signup.price > 5', 'signup | where event_properties.price > 5'],
  ['signup | where signup._country = "DE"', 'signup | where _country = "DE"'],
  // Conditions of a step.
  ['funnel a where price > 3 -> b', 'funnel a[price > 3] -> b'],
  ['funnel a where _os = "x" -> b where price > 3 | last 7d', 'funnel a[_os = "x"] -> b[price > 3] | last 7d'],
  ['funnel a(_os = "x") -> b{price > 3}', 'funnel a[_os = "x"] -> b[price > 3]'],
  ['a{_os="x"} | count', 'a[_os="x"] | count'],
  ['funnel [a, b]', 'funnel a -> b'],
  // Sources in words.
  ['unique users by day | last 30d', '* | unique by day | last 30d'],
  ['count users', '* | unique'],
  ['count of distinct users', '* | unique'],
  ['list events', '* | list'],
  ['list users', 'users'],
  ['count events by day', '* | count by day'],
  ['count signup by day', 'signup | count by day'],
  ['user u1 | last 7d', 'user "u1" | last 7d'],
  ['user ann@shop.example', 'user "ann@shop.example"'],
  ['user = "u1"', 'user "u1"'],
  // Several pipes.
  ['signup last 7d count by day', 'signup | last 7d | count by day'],
  ['signup last 7d by day', 'signup | last 7d | by day'],
  ['signup where _os = "x" unique by week last 30d', 'signup | where _os = "x" | unique by week | last 30d'],
  ['choice k results goal window 7d', 'choice k | results goal | window 7d'],
  // Values and fields as English lists them.
  ['a | where _country = DE or AT', 'a | where _country in (DE, AT)'],
  ['a | where _country is DE or AT', 'a | where _country in (DE, AT)'],
  [
    'a | where (_country = "DE" or AT) and plan = x',
    'a | where (_country in ("DE", AT)) and event_properties.plan = x',
  ],
  ['a | where _country = DE or AT or _os = iOS', 'a | where _country in (DE, AT) or _os = iOS'],
  ['a | where _country != DE and AT', 'a | where _country not in (DE, AT)'],
  ['a | list time user_id', 'a | list time, user_id'],
  ['a | list time and user_id, price', 'a | list time, user_id, event_properties.price'],
  ['a | list time limit 5', 'a | list time | limit 5'],
  ['a | list time where _os exists', 'a | list time | where _os exists'],
  ['a | count by day _country user.plan', 'a | count by day, _country, user.plan'],
  ['a | top 10 desc', 'a | top 10'],
  // A moving average is a total of days, divided by their number.
  ['a | count by day | moving average 7d', 'formula count(a last 7d) / 7 by day'],
  ['a[x = 1] | last 30d | count by day | rolling avg 7 days', 'formula count(a[x = 1] last 7d) / 7 by day | last 30d'],
  ['a | sum price by day | 7-day moving average', 'formula sum(a, price last 7d) / 7 by day'],
])('all fixes of %s make %s', (text, expected) => {
  expect(repaired(text)).toBe(expected);
  expect(detailsOf(expected)).toEqual([]);
});

test('the hint of a name names what the fix writes', () => {
  const [detail] = detailsOf('a | where properties.$browser = "Chrome"');
  expect([detail?.hint, detail?.fix?.text]).toEqual(['nearest is "_browser"', '_browser']);
});

test.each([
  // Both halves may be meant.
  'a | where _country = DE or _os',
  'a | where _country = DE or cohort.power',
  // An order, not a field.
  'a | list time desc',
  // The sum of the people of seven days is not that of their days.
  'a | unique by day | moving average 7d',
  'a | count by week | moving average 7d',
  // The comment would be lost.
  'a # sold\n| count by day | moving average 7d',
])('%s has no fix that asks the same', (text) => {
  expect(detailsOf(text).map(({ fix }) => fix)).toEqual([undefined]);
});

test.each([
  ['users | top 10 by seats', 'top does not go with list, which has no metric'],
  ['a | list time price', 'unexpected "price" in list'],
  // What the parser makes of the text behind a mistake is none of its own.
  ['a | list time where _os exists', 'unexpected "where" in list'],
  ['a | list time sort time', 'unexpected "sort" in list'],
  ['a -> b | window 7d', 'unexpected "->" in the query'],
])('the one mistake of %s is one problem', (text, message) => {
  expect(detailsOf(text).map((detail) => detail.message)).toEqual([message]);
});

test.each([
  ['a | to 2026-11-01', 'the form is: from 2026-01-01 to 2026-02-01'],
  ['a | unique by day | rolling avg 7d', expect.stringContaining('formula count(signup last 7d) / 7 by day')],
])('the hint of %s says how it is written', (text, hint) => {
  expect(detailsOf(text).map((detail) => detail.hint)).toEqual([hint]);
});

test.each(['list', 'unique'])('%s signup may mean an event or a field, so that it has no fix', (stage) => {
  const hint = `"${stage}" is a stage: of an event it is signup | ${stage}, of a field * | ${stage} signup`;
  expect(detailsOf(`${stage} signup`).map((detail) => [detail.hint, detail.fix])).toEqual([[hint, undefined]]);
});

/** Of a project with the keys and the cohort. */
function detailsIn(text: string): readonly QueryErrorDetail[] {
  const definitions = [define('cohort', 'power', '* | where count(a) > 3')];
  try {
    compile(text, { ...CONTEXT, definitions, propertyKeys: ['$browser', 'a.price'], suggestsFixes: true });
    return [];
  } catch (error) {
    if (error instanceof QueryError) return error.details;
    throw error;
  }
}

const fixedIn = (text: string): string[] => {
  const details = detailsIn(text);
  return details.map(({ fix }) =>
    fix ? text.slice(0, fix.column - 1) + fix.text + text.slice(fix.column - 1 + fix.length) : '',
  );
};

test.each([
  ['a | where properties.$browser = "x"', 'a | where event_properties.$browser = "x"'],
  ['a | where a.price > 5', 'a | where event_properties.a.price > 5'],
])('a property that the project has is meant by %s', (text, expected) => {
  expect(fixedIn(text)).toEqual([expected]);
});

test.each([
  ['a | where user in cohort power | count', 'a | where cohort.power = true | count'],
  ['a | where _os = "x" and not in cohort "power"', 'a | where _os = "x" and cohort.power = false'],
  ['a | where cohort = "power"', 'a | where cohort.power = true'],
  ['a | where cohort != power', 'a | where cohort.power = false'],
  ['a | count by cohort power', 'a | count by cohort.power'],
])('%s names a cohort', (text, expected) => {
  expect(fixedIn(text)).toContain(expected);
});

test('a cohort that is not defined is no fix', () => {
  expect(detailsIn('a | where cohort = "weak"').map(({ fix }) => fix)).toEqual([undefined]);
});

test.each([
  ['choice k | results (goal, a) | window 1h | unit user_id', ['unexpected "(" in results']],
  ['choice k | results goal[price > 2] | guard error', ['unexpected "[" in results']],
  ['choice k | unit user_id', ['unit goes with results']],
])('one mistake is one problem: %s', (text, messages) => {
  expect(detailsOf(text).map(({ message }) => message)).toEqual(messages);
});
