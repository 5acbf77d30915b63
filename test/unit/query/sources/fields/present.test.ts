// `fields` and `inspect`: names as a query writes them, types and properties by frequency.
import { describe, expect, test } from 'vitest';
import { propertyName } from '../../../../../src/query/parse/strings.js';
import { COUNTED_FIELDS } from '../../../../../src/query/sources/fields/counted-fields.js';
import { toFieldRows, toTopKeys, toTypes } from '../../../../../src/query/sources/fields/present.js';

describe('propertyName', () => {
  test.each([
    ['plan', 'event_properties.plan'],
    ['cart.total', 'event_properties.cart.total'],
    ['Button Name', 'event_properties."Button Name"'],
    ['say "hi"', 'event_properties."say \\"hi\\""'],
    ['two\nlines\\', 'event_properties."two\\nlines\\\\"'],
    ['of\r\nWindows', 'event_properties."of\\r\\nWindows"'],
    ['\u001b[31m', 'event_properties."\\u001b[31m"'],
    ['', 'event_properties.""'],
  ])('writes %j as %s', (key, written) => {
    expect(propertyName('event_properties', key)).toBe(written);
  });
});

test('toTypes() sorts types by frequency, then by name', () => {
  expect(
    toTypes([
      ['string', 'number', 'boolean'],
      [1, 2, 1],
    ]),
  ).toEqual(['number', 'boolean', 'string']);
});

test('the five most frequent properties of both maps are shown', () => {
  const bags = [
    [
      ['a', 'b', 'c', 'd'],
      [4, 9, 2, 2],
    ],
    [
      ['e', 'f'],
      [3, 1],
    ],
  ];
  expect(toTopKeys(bags)).toEqual([
    'event_properties.b',
    'event_properties.a',
    'user_properties.e',
    'event_properties.c',
    'event_properties.d',
  ]);
});

describe('toFieldRows', () => {
  const none = [[], []];
  const row = (overrides: { total?: number; texts?: unknown; numbers?: unknown; profiles?: string[][] } = {}) => [
    overrides.total ?? 4,
    COUNTED_FIELDS.map((name) => ({ _path: 1, session_id: 3 })[name] ?? 0),
    overrides.texts ?? none,
    overrides.numbers ?? none,
    none,
    none,
    none,
    none,
    ...(overrides.profiles ?? [[], [], []]),
  ];
  const find = (rows: readonly (readonly unknown[])[], field: string) => rows.find(([name]) => name === field);

  test('has the number of events and the coverage in percent', () => {
    const rows = toFieldRows([row()]);
    expect(find(rows, '_path')).toEqual(['_path', 'string', 'page', 1, 25]);
    // An alias of _geo_country, and what every event has.
    expect(find(rows, '_country')).toEqual(['_country', 'string', 'geo', 0, 0]);
    expect(find(rows, 'insert_id')).toEqual(['insert_id', 'string', 'core', 4, 100]);
    expect(find(rows, 'session.duration')).toEqual(['session.duration', 'number', 'session', 3, 75]);
    expect(find(rows, 'session.landing_path')).toEqual(['session.landing_path', 'string', 'session', null, null]);
  });

  test('lists all types of a field and counts an event once', () => {
    const rows = toFieldRows([row({ texts: [['plan'], [1]], numbers: [['plan'], [2]] })]);
    expect(find(rows, 'event_properties.plan')).toEqual([
      'event_properties.plan',
      'number, string',
      'event_properties',
      3,
      75,
    ]);
  });

  test('gives profile fields the type string if they contain text', () => {
    const rows = toFieldRows([row({ profiles: [['plan', 'email'], ['plan', 'seats'], ['beta']] })]);
    expect(find(rows, 'user.plan')?.[1]).toBe('string');
    expect(find(rows, 'user.seats')?.[1]).toBe('number');
    expect(find(rows, 'user.beta')?.[1]).toBe('boolean');
    expect(rows.filter(([name]) => name === 'user.email')).toHaveLength(1);
  });

  test('has coverage 0 without events', () => {
    expect(find(toFieldRows([row({ total: 0 })]), 'event_type')).toEqual(['event_type', 'string', 'core', 0, 0]);
  });
});
