// Properties that change their type between queries: every answer is correct, whatever was guessed,
// also from a catalog, which saves statements.
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { PropertyType } from '../../src/catalog/names.js';
import { saveNames } from '../../src/catalog/store.js';
import { toProjectId } from '../../src/platform/ids.js';
import { type QueryService, startQueryService } from '../support/query-service.js';

const projectId = toProjectId('01900000-0000-7000-8000-000000000077');
const at = { nowMs: Date.parse('2026-11-20T09:30:00Z'), timezone: 'UTC', limit: 100, offset: 0 };
const QUESTIONS = {
  'by the property': '* | count by event_properties.p',
  // Compiled in a thread.
  'by the property, in a long text': `* | count by event_properties.p # ${'x'.repeat(3000)}`,
  'by the property of the profile': '* | count by user.p',
  'equal to true': '* | where event_properties.p = true | count by event_properties.p',
  'equal to a text that is a number': '* | where event_properties.p = "5" | count by event_properties.p',
  'different values': '* | unique event_properties.p',
  listed: '* | list event_properties.p | limit 10',
};

let service: QueryService;
const held: (string | number | boolean)[] = [];

beforeAll(async () => {
  service = await startQueryService();
});

afterAll(() => service?.close());

/** Stores an event of a new person whose profile has the same property. */
async function store(value: string | number | boolean): Promise<void> {
  held.push(value);
  const user = `u${held.length}`;
  const buckets = (bag: 'ep' | 'props') => ({
    ...(typeof value === 'string' && { [`${bag}_str`]: { p: value } }),
    ...((typeof value === 'number' || value === '5') && { [`${bag}_num`]: { p: Number(value) } }),
    ...(typeof value === 'boolean' && { [`${bag}_bool`]: { p: value } }),
  });
  const event = { project_id: projectId, event_type: 'a', time: '2026-11-19 00:00:00', insert_id: user, user_id: user };
  const profile = { project_id: projectId, user_id: user, version: 1 };
  const insert = (table: string, row: object) =>
    service.clickhouse.insert({ table, values: [row], format: 'JSONEachRow' });
  await insert('profiles', { ...profile, ...buckets('props') });
  await insert('events', { ...event, ...buckets('ep') });
}

const ask = async (question: keyof typeof QUESTIONS): Promise<unknown[][]> => {
  const { rows } = await service.ask(projectId, QUESTIONS[question], at);
  return rows.map((row) => [...row]).sort((a, b) => String(a[0]).localeCompare(String(b[0])));
};

test.each<[string | number | boolean, string[]]>([
  ['pro', ['pro']],
  ['5', ['5', 'pro']],
  [5, ['5', '5', 'pro']],
  [true, ['5', '5', 'pro', 'true']],
  ['true', ['5', '5', 'pro', 'true', 'true']],
  [1, ['1', '5', '5', 'pro', 'true', 'true']],
])('queries are correct after an event with the value %j', async (value, values) => {
  await store(value);
  const count = (wanted: (text: string) => boolean) => {
    const found = values.filter(wanted);
    return [...new Set(found)].map((text) => [text, found.filter((one) => one === text).length]);
  };
  expect(await ask('by the property')).toEqual(count(() => true));
  expect(await ask('by the property, in a long text')).toEqual(count(() => true));
  expect(await ask('by the property of the profile')).toEqual(count(() => true));
  expect(await ask('equal to true')).toEqual(count((text) => text === 'true' || text === '1'));
  expect(await ask('equal to a text that is a number')).toEqual(count((text) => text === '5'));
  expect(await ask('different values')).toEqual([[new Set(values).size]]);
  const listed = (await ask('listed')).flat().map((one) => JSON.stringify(one));
  expect(listed.sort()).toEqual(held.map((one) => JSON.stringify(one)).sort());
});

test('keys with the separators of the column of types are not confused with others', async () => {
  const other = toProjectId('01900000-0000-7000-8000-000000000078');
  const keys = ['|', '%', 'a|', '|na', 'a|nb', 'a%7Cnb', 'a%', '%25', 'a', 'b', ''];
  const values = keys.map((key, index) => ({
    project_id: other,
    event_type: 'a',
    time: '2026-11-19 00:00:00',
    insert_id: `k${index}`,
    ...(index % 2 === 0 ? { ep_num: { [key]: index } } : { ep_str: { [key]: index === 1 ? '' : `t${index}` } }),
  }));
  await service.clickhouse.insert({ table: 'events', values, format: 'JSONEachRow' });
  const listed = (await service.ask(other, 'fields | limit 500', at)).rows.filter(
    (row) => row[2] === 'event_properties',
  );
  const shown = keys.map((key) => (/^[\w%]+$/.test(key) && !key.includes('%') ? key : JSON.stringify(key)));
  const isEmpty = (index: number): boolean => index === 1;
  expect(new Set(listed.map(([field, type, , events]) => `${field} ${type} ${events}`))).toEqual(
    new Set(
      shown.flatMap((key, index) =>
        isEmpty(index) ? [] : [`event_properties.${key} ${index % 2 === 0 ? 'number' : 'string'} 1`],
      ),
    ),
  );
  const top = (await service.ask(other, 'inspect *', at)).rows[0]?.at(-1);
  expect((top as string[]).every((name) => shown.some((key) => name === `event_properties.${key}`))).toBe(true);
  for (const [index, key] of keys.entries()) {
    if (key === '') continue;
    const field = `event_properties.${JSON.stringify(key)}`;
    const value = index % 2 === 0 ? String(index) : index === 1 ? '' : `t${index}`;
    const { rows } = await service.ask(other, `* | where ${field} exists | count by ${field}`, at);
    expect(rows, key).toEqual(value === '' ? [] : [[value, 1]]);
    const all = await service.ask(other, `* | count by ${field}`, at);
    expect(
      [...all.rows].map((row) => [...row]),
      key,
    ).toEqual(
      expect.arrayContaining([
        [value, 1],
        [null, keys.length - 1],
      ]),
    );
  }
});

describe('with a catalog', () => {
  const typed = toProjectId('01900000-0000-7000-8000-000000000079');
  const untyped = toProjectId('01900000-0000-7000-8000-000000000080');
  const LONG = ` # ${'x'.repeat(3000)}`;

  const learnTypes = (types: Readonly<Record<string, readonly PropertyType[]>>): Promise<void> => {
    const names = Object.entries(types).flatMap(([key, found]) =>
      found.map((name) => ({ kind: 'key' as const, field: `event_properties.${key}`, name, events: 1 })),
    );
    return saveNames(service.postgres, [{ projectId: typed, generation: 0, names, dropped: [] }]);
  };

  /** The rows by the property, and how many statements the engine was asked. */
  async function countBy(id: typeof typed, key: string, comment = ''): Promise<[readonly unknown[], number]> {
    const queries = vi.spyOn(service.clickhouse, 'query');
    const { rows } = await service.ask(id, `* | count by event_properties.${key}${comment}`, at);
    const asked = queries.mock.calls.length;
    queries.mockRestore();
    return [rows, asked];
  }

  beforeAll(async () => {
    const values = [typed, untyped].flatMap((project_id) =>
      ['i1', 'i2'].map((insert_id, index) => ({
        ...{ project_id, event_type: 'a', time: '2026-11-19 00:00:00', insert_id },
        ep_str: { text: 'x', late: 'x', ...(index === 0 && { both: 'x' }) },
        ep_num: { number: 5, long: 5, ...(index === 1 && { both: 5 }) },
        ep_bool: { boolean: true },
      })),
    );
    await service.clickhouse.insert({ table: 'events', values, format: 'JSONEachRow' });
    const types = { text: ['string', 'null'], number: ['number'], long: ['number'], boolean: ['boolean'] } as const;
    await learnTypes({ ...types, both: ['string', 'number'], late: ['number'] });
    // The answer waits for the catalog, because of the warnings about unknown names.
    await service.ask(typed, '* | where event_properties.text exists | count', at);
  });

  test.each([
    ['text', [['x', 2]], 1],
    ['number', [['5', 2]], 2],
    ['boolean', [['true', 2]], 3],
  ])('the first query by a property of type %s is one statement', async (key, rows, withoutCatalog) => {
    expect(await countBy(typed, key)).toEqual([rows, 1]);
    expect(await countBy(untyped, key)).toEqual([rows, withoutCatalog]);
  });

  test('so is that of several types, and that of a long text, which a thread compiles', async () => {
    const [rows, asked] = await countBy(typed, 'both');
    expect([new Set(rows.map(String)), asked]).toEqual([new Set(['x,1', '5,1']), 1]);
    expect(await countBy(typed, 'long', LONG)).toEqual([[['5', 2]], 1]);
  });

  test('a wrong catalog costs one statement and changes no answer', async () => {
    expect(await countBy(typed, 'late')).toEqual([[['x', 2]], 2]);
    expect(await countBy(typed, 'late')).toEqual([[['x', 2]], 1]);
    expect(await countBy(typed, 'late', LONG)).toEqual([[['x', 2]], 1]);
  });
});
