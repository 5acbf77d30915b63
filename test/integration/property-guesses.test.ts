// Properties that change their type between queries: every answer is correct, whatever was guessed.
import { afterAll, beforeAll, expect, test } from 'vitest';
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
