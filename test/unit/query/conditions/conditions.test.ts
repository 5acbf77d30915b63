// SQL of comparisons, by the types of field and value: no property map is read that cannot contain
// an equal value. The golden rows test the results.
import { expect, test } from 'vitest';
import { toProjectId } from '../../../../src/platform/ids.js';
import { compile } from '../../../../src/query/compile.js';
import type { Guess } from '../../../../src/query/property-guess.js';

const projectId = toProjectId('00000000-0000-7000-8000-000000000001');
const CONTEXT = { projectId, nowMs: Date.parse('2026-11-20T09:30:00Z'), timezone: 'UTC', limit: 100, offset: 0 };

/** The SQL of the condition, with its parameters replaced by their values. */
function conditionOf(where: string, guess: Guess = 'anything'): string {
  const { sql, params } = compile(`* | where ${where} | count`, { ...CONTEXT, guessOf: () => guess }).statement;
  const printed = /AND time < \{[^}]*\}\n {2}AND ([\s\S]*?)\nLIMIT/.exec(sql)?.[1] ?? '';
  const condition = printed.replace(/(?<=\()\s+|\s+(?=\))/g, '').replace(/\s+/g, ' ');
  return condition
    .replace(/^\((.* OR .*)\)$/s, '$1')
    .replace(/\{(\w+):[^}]*\}/g, (_, name: string) => JSON.stringify(params[name]))
    .replace(/position\(ep_types, "\|(\w)k\|"\) != 0/g, (_, type: string) => `HAS_${type.toUpperCase()}`)
    .replaceAll('not(HAS_S)', 'NUMBER_ITSELF')
    .replace(/throwIf\(([^"]*(?:"k"[^"]*)*), "refused guess [^"]*"\)/, 'REFUSE($1)');
}

test.each([
  // A string literal is compared with the text form. Other property maps are read only if it is the
  // text of one of their values.
  ['event_properties.k = "pro"', 'ep_str["k"] = "pro"'],
  ['event_properties.k = "5"', 'ep_str["k"] = "5" OR ep_num["k"] = 5 AND NUMBER_ITSELF'],
  ['event_properties.k = "0"', 'ep_str["k"] = "0" OR HAS_N AND ep_num["k"] = 0 AND NUMBER_ITSELF'],
  ['event_properties.k = "5.0"', 'ep_str["k"] = "5.0" OR HAS_N AND toString(ep_num["k"]) = "5.0" AND NUMBER_ITSELF'],
  ['event_properties.k = "1e21"', 'ep_str["k"] = "1e21" OR HAS_N AND toString(ep_num["k"]) = "1e21" AND NUMBER_ITSELF'],
  ['event_properties.k = "true"', 'ep_str["k"] = "true" OR ep_bool["k"]'],
  ['event_properties.k = "false"', 'ep_str["k"] = "false" OR HAS_B AND not(ep_bool["k"])'],
  ['event_properties.k = ""', 'HAS_S AND ep_str["k"] = \'\''],
  // A number literal is compared with the numeric map, which contains numeric texts as well. A
  // missing key reads 0, which is excluded.
  ['event_properties.k = 5', 'ep_num["k"] = 5'],
  ['event_properties.k = 0', 'HAS_N AND ep_num["k"] = 0'],
  ['event_properties.k != 5', 'not(ep_num["k"] = 5)'],
  ['event_properties.k > 5', 'ep_num["k"] > 5'],
  ['event_properties.k < 5', 'HAS_N AND ep_num["k"] < 5'],
  ['event_properties.k > "5"', 'ep_num["k"] > 5'],
  ['event_properties.k >= -1', 'HAS_N AND ep_num["k"] >= -1'],
  // An id with more digits than a double is found by its text. As a number it was rounded by the
  // client.
  [
    'event_properties.k = 1234567890123456789',
    'ep_str["k"] = "1234567890123456789" OR ep_num["k"] = 1234567890123456800 AND NUMBER_ITSELF',
  ],
  [
    '_path in (7, 1234567890123456789)',
    'path = "1234567890123456789" OR ifNull(if(isFinite(toFloat64OrNull(path)), toFloat64OrNull(path), NULL) = 7, 0)',
  ],
  // A boolean is compared with the boolean map, the numbers 1 and 0, and the texts true and false.
  ['event_properties.k = true', 'ep_str["k"] = "true" OR ep_num["k"] = 1 AND NUMBER_ITSELF OR ep_bool["k"]'],
  [
    'event_properties.k = false',
    'ep_str["k"] = "false" OR HAS_N AND ep_num["k"] = 0 AND NUMBER_ITSELF OR HAS_B AND not(ep_bool["k"])',
  ],
  // A list makes one condition for each property map, not for each value.
  ['event_properties.k in ("a", "b")', 'ep_str["k"] IN ["a","b"]'],
  ['event_properties.k in (1, "a", 2)', 'ep_num["k"] IN [1,2] OR ep_str["k"] = "a"'],
  ['event_properties.k contains "hat"', 'position(ep_str["k"], "hat") > 0'],
  ['event_properties.k exists', 'HAS_S AND not(HAS_E) OR HAS_N OR HAS_B'],
  ['user_properties.k = "x"', 'up_str["k"] = "x"'],
  // Columns of text: empty is missing, and missing equals nothing.
  ['_country = "DE"', 'geo_country = "DE"'],
  ['_country = DE', 'geo_country = "DE"'],
  ['_country != "DE"', 'not(geo_country = "DE")'],
  ['_country in ["DE", "US"]', 'geo_country IN ["DE","US"]'],
  ['_country = ""', '0'],
  ['_country not in ("")', 'not(0)'],
  ['_country exists', "geo_country != ''"],
  ['_path contains "/a"', 'position(path, "/a") > 0'],
  ['_path ~ "^/a"', 'path != \'\' AND match(path, "^/a")'],
  // Ids are always text, and are looked up by their hash.
  ['user_id = 007', 'user_hash IN (sipHash64("007")) AND user_id = "007"'],
  ['session_id = "s"', 'session_id = "s"'],
  ['user_id exists', 'user_hash != 0'],
  ['_geo_latitude = 52.5', 'geo_latitude = 52.5'],
  ['_geo_latitude < 10', 'geo_latitude < 10'],
  ['time >= 2026-11-19', 'time >= "2026-11-19 00:00:00.000"'],
])('%s is %s', (where, expected) => {
  expect(conditionOf(where)).toBe(expected);
});

test.each([
  ['_path = "a" or _url = "u" or _path in ("b", "c")', '_path in ("a", "b", "c") or _url = "u"'],
  ['_path != "a" and (_path != "b" and _os = "x")', '_path not in ("a", "b") and _os = "x"'],
  ['user_id != 1 | where user_id != "2"', 'user_id not in (1, "2")'],
  ['not (_path = "a" or _path = "b")', 'not (_path in ("a", "b"))'],
  [
    'event_properties.k = 5 or event_properties.k = "5" or event_properties.k = true',
    'event_properties.k in (5, "5", true)',
  ],
  ['distinct_id = "a" or distinct_id = "b"', 'distinct_id in ("a", "b")'],
])('%s equals the list %s', (chain, list) => {
  const statementOf = (where: string) => compile(`* | where ${where} | count`, CONTEXT).statement;
  expect(statementOf(chain)).toEqual(statementOf(list));
});

test.each([
  ['_path = "a" and _path = "b"', 'path = "a" AND path = "b"'],
  ['_path != "a" or _path != "b"', 'not(path = "a") OR not(path = "b")'],
])('%s is not merged into a list', (where, expected) => {
  expect(conditionOf(where)).toBe(expected);
});

// The guess decides which property map is read. A key in another map that could be equal makes
// ClickHouse reject the guess.
test.each<[string, Guess, string]>([
  ['event_properties.k = "pro"', 'text', 'ep_str["k"] = "pro"'],
  ['event_properties.k = "pro"', 'number', 'REFUSE(HAS_S)'],
  ['event_properties.k = "5"', 'text', 'REFUSE(HAS_N AND NUMBER_ITSELF) OR ep_str["k"] = "5"'],
  ['event_properties.k = "5"', 'number', 'REFUSE(HAS_S) OR ep_num["k"] = 5 AND NUMBER_ITSELF'],
  ['event_properties.k = true', 'boolean', 'REFUSE(HAS_S OR HAS_N AND NUMBER_ITSELF) OR ep_bool["k"]'],
  ['event_properties.k = 5', 'text', 'ep_num["k"] = 5'],
  ['event_properties.k > 5', 'boolean', 'ep_num["k"] > 5'],
])('%s with the guess %s', (where, guess, expected) => {
  expect(conditionOf(where, guess)).toBe(expected);
});

const warningsOf = (where: string): readonly string[] => compile(`* | where ${where} | count`, CONTEXT).warnings;

test('an order by a number with a unit has a warning, because it compares texts', () => {
  expect(warningsOf('event_properties.price > 1k')).toEqual([
    '> 1k compares texts: a number has digits alone, and text goes in quotes',
  ]);
  expect(warningsOf('event_properties.size <= 15GB')).toHaveLength(1);
  for (const where of ['price > "1k"', 'price > 1000', 'day >= 2026-11-15', 'plan = 1k', 'n > 1e5']) {
    expect(warningsOf(`event_properties.${where}`)).toEqual([]);
  }
});
