// Values of exported records: times, ids and properties.
import { expect, test } from 'vitest';
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
