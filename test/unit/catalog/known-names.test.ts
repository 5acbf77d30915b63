// KnownNames: which names of a block are new to a project and have to be stored, and the limits of
// its catalog.
import { expect, test } from 'vitest';
import { KnownNames } from '../../../src/catalog/known-names.js';
import type { CatalogName, NameKind } from '../../../src/catalog/names.js';
import { BOUNDS } from '../../../src/platform/flow/bounds.js';

const name = (kind: NameKind, field: string, text: string, events = 1): CatalogName => ({
  kind,
  field,
  name: text,
  events,
});
const numbered = (count: number, toName: (index: number) => CatalogName): CatalogName[] =>
  Array.from({ length: count }, (_, index) => toName(index));

test('add() returns a new name once, and again when its count has doubled', () => {
  const known = new KnownNames(0, []);
  const signup = name('event', '', 'signup', 3);
  expect(known.add([signup]).names).toEqual([signup]);
  expect(known.add([{ ...signup, events: 2 }]).names).toEqual([]);
  expect(known.add([{ ...signup, events: 1 }]).names).toEqual([{ ...signup, events: 3 }]);
  expect(known.add([{ ...signup, events: 5 }]).names).toEqual([]);
});

test('add() returns a new name without events once, and then its first count', () => {
  const known = new KnownNames(0, []);
  const announced = name('event', '', 'signup', 0);
  expect(known.add([announced]).names).toEqual([announced]);
  expect(known.add([announced]).names).toEqual([]);
  expect(known.add([{ ...announced, events: 2 }]).names).toEqual([{ ...announced, events: 2 }]);
});

test('takeCounted() returns each count that was not stored yet, once', () => {
  const known = new KnownNames(0, []);
  const key = name('key', 'event_properties.plan', 'string', 3);
  const value = name('value', 'event_properties.plan', 'pro', 3);
  known.add([name('event', '', 'signup', 3), name('event', '', 'stored', 1), key, value]);
  expect(known.takeCounted()).toEqual([]);
  const more = [name('event', '', 'signup', 2), { ...key, events: 1 }, { ...value, events: 2 }];
  expect(known.add(more).names).toEqual([]);
  expect(known.takeCounted()).toEqual(more);
  expect(known.takeCounted()).toEqual([]);
  // They are part of the stored count, which has to double.
  expect(known.add([name('event', '', 'signup', 4)]).names).toEqual([]);
});

test('hasNew() says whether add() would return a name that is not stored', () => {
  const key = name('key', 'event_properties.plan', 'string');
  const value = name('value', 'event_properties.plan', 'pro');
  const stored = [key, value, name('event', '', 'signup'), name('many', 'event_properties.id', '', 0)];
  const known = new KnownNames(0, [...stored, name('key', 'event_properties.id', 'string')]);
  expect(known.hasNew([...stored, name('value', 'event_properties.id', 'v'), name('value', 'user.x', 'v')])).toBe(
    false,
  );
  const others = [
    name('event', '', 'purchase'),
    name('key', 'event_properties.seats', 'number'),
    name('key', 'event_properties.plan', 'number'),
    name('key', 'event_properties.id', 'number'),
    name('value', 'event_properties.plan', 'free'),
    name('value', '_platform', 'web'),
    name('many', 'event_properties.plan', '', 0),
  ];
  for (const other of others) expect([other, known.hasNew([...stored, other])]).toEqual([other, true]);
});

test('hasNew() is false for the names of a group that has too many', () => {
  const known = new KnownNames(0, []);
  known.add(numbered(BOUNDS.catalogEvents + 1, (index) => name('event', '', `e${index}`)));
  known.add(numbered(BOUNDS.catalogKeys + 1, (index) => name('key', `event_properties.k${index}`, 'string')));
  expect(known.hasNew([name('event', '', 'other'), name('key', 'event_properties.other', 'string')])).toBe(false);
});

test('add() does not return a stored name', () => {
  const key = name('key', 'event_properties.plan', 'string', 10);
  const known = new KnownNames(2, [key]);
  expect(known.add([{ ...key, events: 1 }]).names).toEqual([]);
  expect(known.add([name('key', 'event_properties.plan', 'number')]).names).toHaveLength(1);
});

test('the values of a stored field with too many values are ignored', () => {
  const key = name('key', 'event_properties.id', 'string', 10);
  const known = new KnownNames(0, [
    key,
    name('many', 'event_properties.id', '', 0),
    name('value', 'event_properties.id', 'v'),
  ]);
  expect(known.size).toBe(2);
  expect(known.add([{ ...key, events: 1 }, name('value', 'event_properties.id', 'v')])).toEqual({
    names: [],
    dropped: [],
  });
});

test('a field above the limit of values loses all values and gets no new ones', () => {
  const known = new KnownNames(0, []);
  const value = (index: number) => name('value', 'event_properties.id', `v${index}`);
  known.add([name('key', 'event_properties.id', 'string')]);
  expect(known.add(numbered(BOUNDS.catalogFieldValues, value)).names).toHaveLength(BOUNDS.catalogFieldValues);
  const change = known.add([value(BOUNDS.catalogFieldValues)]);
  expect(change).toEqual({ names: [name('many', 'event_properties.id', '', 0)], dropped: ['event_properties.id'] });
  expect(known.isMany('event_properties.id')).toBe(true);
  expect(known.add([value(0), value(5000)]).names).toEqual([]);
  expect(known.size).toBeLessThan(10);
});

test('the names of a project are bounded in memory and in rows', () => {
  const known = new KnownNames(0, []);
  const rows = new Set<string>();
  const send = (names: CatalogName[]): void => {
    const change = known.add(names);
    for (const row of rows) if (change.dropped.some((field) => row.startsWith(`value ${field} `))) rows.delete(row);
    for (const { kind, field, name: text } of change.names) rows.add(`${kind} ${field} ${text}`);
  };
  for (let round = 0; round < 20; round += 1) {
    const keyOf = (index: number) => `event_properties.${round}_${index}`;
    send(numbered(1000, (index) => name('event', '', `${round}_${index}`)));
    send(numbered(1000, (index) => name('key', keyOf(index), 'string')));
    send(numbered(5000, (index) => name('value', keyOf(index % 500), `v${index}`)));
    send(numbered(500, (index) => name('many', keyOf(index + 500), '')));
  }
  expect(known.isMany('event_type')).toBe(true);
  expect(known.isMany('event_properties')).toBe(true);
  const max = BOUNDS.catalogEvents + 2 * BOUNDS.catalogKeys + BOUNDS.catalogValues;
  expect(known.size).toBeLessThanOrEqual(max);
  expect(rows.size).toBeLessThanOrEqual(max);
});
