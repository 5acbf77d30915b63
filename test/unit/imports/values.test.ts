// Values of exported records: times, ids and properties.
import { expect, test } from 'vitest';
import { createRandom } from '../../../bench/random.js';
import { addCampaign } from '../../../src/imports/campaign.js';
import { toCanonicalJson } from '../../../src/imports/record-ids.js';
import { idOf, numberOf, present, timeOf, toProperties } from '../../../src/imports/values.js';

const TIMES: readonly (readonly [text: unknown, iso: string | undefined])[] = [
  ['2026-01-31 10:00:00.123456', '2026-01-31T10:00:00.123Z'],
  ['2026-01-31T10:00:00Z', '2026-01-31T10:00:00.000Z'],
  ['2026-01-31 10:00:00 UTC', '2026-01-31T10:00:00.000Z'],
  ['2026-01-31 10:00:00.5+00', '2026-01-31T10:00:00.500Z'],
  ['2026-01-31T10:00:00+0230', '2026-01-31T07:30:00.000Z'],
  ['2026-01-31T10:00:00.123456789-02:00', '2026-01-31T12:00:00.123Z'],
  ['2026-01-31 10:00', '2026-01-31T10:00:00.000Z'],
  ['2026-13-31 10:00:00', undefined],
  ['2026-01-31 10:00:00 CET', undefined],
  ['2026-01-31', undefined],
  ['yesterday', undefined],
  [1, undefined],
];

test.each(TIMES)('timeOf(%j)', (text, iso) => {
  const timeMs = timeOf(text);
  expect(timeMs === undefined ? undefined : new Date(timeMs).toISOString()).toBe(iso);
});

test('ids are texts, but numbers that JSON rounds stay numbers, to be refused', () => {
  expect([idOf('a'), idOf(7), idOf(''), idOf(null), idOf({}), idOf(2 ** 53)]).toEqual([
    ...['a', '7', undefined, undefined, undefined],
    2 ** 53,
  ]);
});

test('numbers are read from their text', () => {
  expect([numberOf('12.5'), numberOf(3), numberOf(''), numberOf('x'), numberOf(null)]).toEqual([
    ...[12.5, 3, undefined, undefined, undefined],
  ]);
});

test('properties are renamed and left out; their own name wins, and empty renamed values are absent', () => {
  const renames = { $url: 'url', $title: 'title', $time: null };
  expect(toProperties({ $url: '/a', $title: '', $time: 1, plan: null }, renames)).toEqual({ url: '/a', plan: null });
  expect(toProperties({ url: '/own', $url: '/a' }, renames)).toEqual({ url: '/own' });
});

test('texts above the limit of the service are cut between two characters', () => {
  const { text, list } = toProperties({ text: 'я'.repeat(5000), list: ['x'.repeat(9000)] });
  expect(Buffer.byteLength(String(text))).toBe(8192);
  expect(Buffer.byteLength(String(list))).toBe(8192);
});

test('a property may be called __proto__', () => {
  expect(JSON.stringify(toProperties(JSON.parse('{"__proto__":1}')))).toBe('{"__proto__":1}');
  expect(JSON.stringify(present(JSON.parse('{"__proto__":1}')))).toBe('{"__proto__":1}');
});

test('the canonical form of a record does not depend on the order of its fields', () => {
  expect(toCanonicalJson({ b: [{ d: 1, c: 2 }], a: null })).toBe('{"a":null,"b":[{"c":2,"d":1}]}');
});

// Insert ids of events that were imported before are digests of this form: it must never change.
test.each([
  ['{"10":1,"9":2,"b":3,"a":4}', '{"9":2,"10":1,"a":4,"b":3}'],
  ['{"b":1,"__proto__":{"z":1,"y":[]},"Ä":0}', '{"__proto__":{"y":[],"z":1},"b":1,"Ä":0}'],
  ['[{"b":[[{"d":1,"c":null}]],"a":"\\u2028"},-0.5,true,{}]', '[{"a":"\u2028","b":[[{"c":null,"d":1}]]},-0.5,true,{}]'],
  ['{"a":[{"k":1,"v":2},{"k":1,"v":{"z":1,"y":2}}],"b":0}', '{"a":[{"k":1,"v":2},{"k":1,"v":{"y":2,"z":1}}],"b":0}'],
])('the canonical form of %s', (json, canonical) => {
  expect(toCanonicalJson(JSON.parse(json))).toBe(canonical);
});

test.each([
  ['https://a.b/?utm_source=one&x=1&utm_source=two#utm_medium=no', { utm_source: 'one' }],
  ['https://a.b/?q=?utm_term=no&utm_medium&gclid=a=b', { gclid: 'a=b' }],
  ['https://a.b/?utm_source&utm_source=late&fbclid=', {}],
  ['https://a.b/?utm_source=a+b%20%C3%A4&utm%5Fmedium=mail', { utm_source: 'a b ä', utm_medium: 'mail' }],
  ['https://a.b/#?utm_source=no', {}],
  ['https://a.b/utm_source=no', {}],
])('campaign parameters of %s', (url, parameters) => {
  const properties = { url };
  addCampaign(properties);
  expect(properties).toEqual({ url, ...parameters });
});

test('campaign parameters stay where the event has them', () => {
  const url = 'https://a.b/?utm_source=url&utm_term=x';
  const properties = { url, utm_source: 'event' };
  addCampaign(properties);
  expect(properties).toEqual({ url, utm_source: 'event', utm_term: 'x' });
});

test('campaign parameters are those that URLSearchParams reads', () => {
  const random = createRandom(7);
  const pieces = [
    '&utm_source=',
    'gclid=',
    'utm_source',
    '&gclid',
    'a',
    '=',
    '=',
    '&',
    '&',
    '?',
    '%41',
    '%',
    '+',
    'é',
    '\ud800',
  ];
  let compared = 0;
  for (let turn = 0; turn < 2000; turn += 1) {
    const pieceCount = Math.floor(random() * 12);
    const query = Array.from({ length: pieceCount }, () => pieces[Math.floor(random() * pieces.length)]).join('');
    const url = `https://a.b/?utm_term=1&${query}`;
    const expected: Record<string, string> = { url };
    for (const name of ['utm_source', 'gclid', 'utm_term']) {
      const value = new URLSearchParams(url.slice(url.indexOf('?'))).get(name);
      if (value) expected[name] = value;
    }
    const properties = { url };
    addCampaign(properties);
    expect(properties).toEqual(expected);
    compared += 'gclid' in expected || 'utm_source' in expected ? 1 : 0;
  }
  expect(compared).toBeGreaterThan(100);
});
