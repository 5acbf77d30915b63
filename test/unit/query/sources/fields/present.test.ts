// `fields` and `inspect`: names as a query writes them, types and properties by frequency.
import { describe, expect, test } from 'vitest';
import { EVENT_FIELD_NAMES } from '../../../../../src/query/fields.js';
import { propertyName, toFieldRows, toTopKeys, toTypes } from '../../../../../src/query/sources/fields/present.js';

describe('a property', () => {
  test.each([
    ['plan', 'event_properties.plan'],
    ['cart.total', 'event_properties.cart.total'],
    ['Button Name', 'event_properties."Button Name"'],
    ['say "hi"', 'event_properties."say \\"hi\\""'],
    ['two\nlines\\', 'event_properties."two\\nlines\\\\"'],
    ['', 'event_properties.""'],
  ])('%j is written %s', (key, written) => {
    expect(propertyName('event_properties', key)).toBe(written);
  });
});

test('types come by how often they occur, then by name', () => {
  expect(
    toTypes([
      ['string', 'number', 'boolean'],
      [1, 2, 1],
    ]),
  ).toEqual(['number', 'boolean', 'string']);
});

test('five properties of both bags are enough', () => {
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

describe('fields', () => {
  const none = [[], []];
  const row = (overrides: { total?: number; texts?: unknown; numbers?: unknown; profiles?: string[][] } = {}) => [
    overrides.total ?? 4,
    3,
    EVENT_FIELD_NAMES.map((name) => (name === '_path' ? 1 : 0)),
    overrides.texts ?? none,
    overrides.numbers ?? none,
    none,
    none,
    none,
    none,
    ...(overrides.profiles ?? [[], [], []]),
  ];
  const find = (rows: readonly (readonly unknown[])[], field: string) => rows.find(([name]) => name === field);

  test('are counted, and their coverage is a percentage', () => {
    const rows = toFieldRows([row()]);
    expect(find(rows, '_path')).toEqual(['_path', 'string', 'page', 1, 25]);
    expect(find(rows, 'session.duration')).toEqual(['session.duration', 'number', 'session', 3, 75]);
    expect(find(rows, 'session.landing_path')).toEqual(['session.landing_path', 'string', 'session', null, null]);
  });

  test('of several types name them all and count once for each event', () => {
    const rows = toFieldRows([row({ texts: [['plan'], [1]], numbers: [['plan'], [2]] })]);
    expect(find(rows, 'event_properties.plan')).toEqual([
      'event_properties.plan',
      'number, string',
      'event_properties',
      3,
      75,
    ]);
  });

  test('of profiles are text where they hold some', () => {
    const rows = toFieldRows([row({ profiles: [['plan', 'email'], ['plan', 'seats'], ['beta']] })]);
    expect(find(rows, 'user.plan')?.[1]).toBe('string');
    expect(find(rows, 'user.seats')?.[1]).toBe('number');
    expect(find(rows, 'user.beta')?.[1]).toBe('boolean');
    expect(rows.filter(([name]) => name === 'user.email')).toHaveLength(1);
  });

  test('of no events have no coverage', () => {
    expect(find(toFieldRows([row({ total: 0 })]), 'event_type')).toEqual(['event_type', 'string', 'core', 0, 0]);
  });
});
