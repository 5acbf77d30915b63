// Mapping of Umami's website_event from CSV and from a dump, and who is one person.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import type { InputFile } from '../../../../src/imports/input/input-files.js';
import type { Mapped, ReadRecord } from '../../../../src/imports/source.js';
import { prepareJoin } from '../../../../src/imports/sources/umami/event-data.js';
import { umami } from '../../../../src/imports/sources/umami/read.js';
import type { JsonObject } from '../../../../src/platform/json-object.js';
import { eventsOf, inputOf, mapAll, mapTogether, peopleOf, skippedOf, testPeople } from '../../../support/imports.js';

const openUmami = () => umami.open({ site: undefined, timeZone: undefined });
const read = (name: string) => readFileSync(new URL(`fixtures/${name}`, import.meta.url), 'utf8');
const mapped = await mapAll(umami, inputOf(read('umami.csv')));
const [pageView, signup, bare] = eventsOf(mapped);

test('a page view has its address, referrer, visit and place', () => {
  expect(pageView).toEqual({
    event_type: 'page_view',
    timeMs: Date.UTC(2023, 10, 14, 22, 13, 20),
    insert_id: 'um:e1',
    device_id: 'um-s1',
    session_id: 'v1',
    event_properties: {
      url: 'https://shop.example/pricing?utm_source=news&x=1',
      referrer: 'https://search.example/find?q=a',
      referring_domain: 'search.example',
      title: 'Prices, and "plans"',
      language: 'de-DE',
      browser: 'chrome',
      os_name: 'Windows 10',
      device_category: 'desktop',
      screen: '1920x1080',
      website_id: 'w1',
    },
    agent: { browser: 'Chrome', os: 'Windows', os_version: '10', device_type: 'desktop' },
    geo: { country: 'DE', region_code: 'DE-BE', city: 'Berlin' },
    origin: 'client',
  });
});

test('a custom event has its name, and times may be seconds', () => {
  expect(signup).toMatchObject({ event_type: 'signup', timeMs: Date.UTC(2023, 10, 14, 22, 14, 0, 500) });
  expect(bare).toMatchObject({ timeMs: 1_700_000_100_000, event_properties: { url: '/' } });
  expect(bare?.geo).toBeUndefined();
});

test('rows that cannot be read or have no equal are skipped with a reason', async () => {
  expect(skippedOf(mapped)).toEqual([
    'not CSV: another number of columns than the header',
    'neither a page view nor an event with a name',
  ]);
  const unclosed = await mapAll(umami, inputOf(`event_id,event_name\n1,"a\n${'2,b\n'.repeat(400_000)}`));
  expect(skippedOf(unclosed)).toContain('not CSV: a quote is not closed');
});

test.each([
  ['pg_dump --inserts', "INSERT INTO public.website_event VALUES ('e1');\n"],
  ['mysqldump', "INSERT INTO `event_data` VALUES ('d1'),('d2');\n"],
])('a dump by %s is named: its rows are no lines', async (_by, text) => {
  const reason = 'rows as INSERT are not read: use pg_dump without --inserts, or export CSV';
  const other = "INSERT INTO public.session VALUES ('s1');\n";
  expect(await mapAll(umami, { ...inputOf(other + text), name: 'umami.sql' })).toEqual([{ kind: 'skip', reason }]);
});

test('a dump that ends within a table is no whole file', async () => {
  const cut = read('umami.sql').slice(0, read('umami.sql').indexOf('\nd3\t') + 1);
  await expect(mapAll(umami, { ...inputOf(cut), name: 'umami.sql' })).rejects.toThrow('the dump ends within a table');
});

test('a row of revenue, which has the id of its event, is skipped', async () => {
  const rows = 'revenue_id,event_id,event_name,currency,revenue,created_at\nr1,e1,Buy,EUR,12.5,2024-01-01 10:00:00\n';
  const found = await mapAll(umami, inputOf(rows));
  expect(found).toEqual([{ kind: 'skip', reason: 'a row of revenue: event_data has its values' }]);
});

test('a visitor is the person of the distinct id', () => {
  expect(peopleOf(mapped)).toEqual([
    ['page_view', 'um-user-1'],
    ['signup', 'um-user-1'],
    ['page_view', 'um-s2'],
  ]);
});

test('a dump of PostgreSQL has the same rows', async () => {
  const dump = await mapAll(umami, { ...inputOf(read('umami.sql')), name: 'umami.sql' });
  expect(eventsOf(dump).map((event) => [event.event_type, event.insert_id, event.event_properties])).toEqual([
    ['page_view', 'um:d1', { url: 'https://shop.example/a', title: 'Tab\tand \\N' }],
    ['signup', 'um:d3', { url: 'https://shop.example/a' }],
  ]);
  expect(skippedOf(dump)).toEqual(['not a row of 9 columns']);
});

const HEADER = 'event_id,session_id,distinct_id,created_at,url_path,event_type';
const ROW = (second: number, device: string, user = '') =>
  `e${second},${device},${user},2023-01-01 00:00:0${second},/,1`;

testPeople(umami, [
  ['a session without a user is a person of its own', [HEADER, ROW(1, 'a'), ROW(2, 'a'), ROW(3, 'b')], ['a', 'a', 'b']],
  [
    'events before and after identify() are of one person',
    [HEADER, ROW(1, 'a'), ROW(2, 'a', 'u'), ROW(3, 'a')],
    ['u', 'u', 'u'],
  ],
  [
    'a user in two months, whose sessions differ, is one person',
    [HEADER, ROW(1, 'jan', 'u'), ROW(2, 'feb'), ROW(3, 'feb', 'u')],
    ['u', 'u', 'u'],
  ],
  [
    'without a user two months of one visitor are two people, as there',
    [HEADER, ROW(1, 'jan'), ROW(2, 'feb')],
    ['jan', 'feb'],
  ],
  [
    'of two users in one session the last by time has its events without a user',
    [HEADER, ROW(3, 'a', 'v'), ROW(1, 'a', 'u'), ROW(2, 'a')],
    ['v', 'u', 'v'],
  ],
  ['the marks of databases for no user are none', [HEADER, ROW(1, 'a', 'NULL'), ROW(2, 'b', '\\N')], ['a', 'b']],
]);

describe('event_data', () => {
  const named = (name: string, text: string): InputFile => ({ ...inputOf(text), name });
  const events = named('umami.csv', read('umami.csv'));
  const data = named('event_data.csv', read('umami-event-data.csv'));
  const signupOf = (all: readonly Mapped[]) => eventsOf(all).find((event) => event.event_type === 'signup');
  const DATA = {
    plan: 'pro',
    price: 12.5,
    trial: true,
    'team.size': 3,
    start: '2023-11-15T00:00:00.000Z',
    tags: '["a","b"]',
  };

  test.each([
    ['before', [data, events]],
    ['after', [events, data]],
  ])('becomes the properties of its event when its file stands %s that of the events', async (_where, files) => {
    const all = await mapTogether(openUmami(), files);
    expect(signupOf(all)?.event_properties).toMatchObject(DATA);
    expect(eventsOf(all).map((event) => event.insert_id)).toEqual(['um:e1', 'um:e2', 'um:e4']);
    expect([...skippedOf(all)].sort()).toEqual([
      'neither a page view nor an event with a name',
      'not CSV: another number of columns than the header',
      'not CSV: another number of columns than the header',
    ]);
  });

  test('a boolean is true or false, and another text of that type stays', async () => {
    const rows = ['true', 'false', 'maybe'].map((text, n) => `e2,k${n},${text},3\n`);
    const text = `website_event_id,data_key,string_value,data_type\n${rows.join('')}`;
    const all = await mapTogether(openUmami(), [events, named('event_data.csv', text)]);
    expect(signupOf(all)?.event_properties).toMatchObject({ k0: true, k1: false, k2: 'maybe' });
  });

  test('columns of the event win, and an event without data stays as it is', async () => {
    const all = eventsOf(await mapTogether(openUmami(), [events, data]));
    expect(all[0]?.event_properties).toMatchObject({ title: 'Prices, and "plans"', color: 'red' });
    expect(all[2]).toEqual(bare);
  });

  test('of ClickHouse is joined as well: it has the event in another column, and its name', async () => {
    const text = `website_id,session_id,event_id,url_path,event_name,data_key,string_value,number_value,date_value,data_type,created_at
w1,um-s1,e2,/pricing,signup,plan,pro,\\N,\\N,1,2023-11-14 22:14:00
`;
    const all = await mapTogether(openUmami(), [events, named('event_data.csv', text)]);
    expect(signupOf(all)?.event_properties).toMatchObject({ plan: 'pro' });
    expect(eventsOf(all).map((event) => event.insert_id)).toEqual(['um:e1', 'um:e2', 'um:e4']);
  });

  test('of a dump is joined as well', async () => {
    const dump = `${read('umami.sql')}COPY public.event_data (event_data_id, website_event_id, data_key, string_value, number_value, date_value, data_type) FROM stdin;
x1	d3	plan	pro	\\N	\\N	1
\\.
`;
    expect(signupOf(await mapTogether(openUmami(), [named('umami.sql', dump)]))?.event_properties).toMatchObject({
      plan: 'pro',
    });
  });

  test('more than memory may hold is joined on the disk alike', async () => {
    const ids = Array.from({ length: 500 }, (_, n) => `e${(n * 7919) % 500}`);
    const rows = ids.map((id, n) => ({ line: n + 2, value: { event_id: id, n } }));
    const values = ids.map((id) => ({ line: 1, value: { website_event_id: id, data_key: 'k', string_value: id } }));
    const readers = { readTable: listed([...rows, ...rows.slice(0, 3)]), readData: listed(values) };
    const joined = async (runBytesMax: number) => {
      const { read: readFile, close } = await prepareJoin([data], readers, runBytesMax);
      const found: string[] = [];
      for await (const record of readFile(events)) found.push(JSON.stringify(record));
      await close();
      return found.sort();
    };
    const inMemory = await joined(1e9);
    expect(inMemory).toHaveLength(503);
    expect(inMemory[0]).toContain('"$event_data":{"k":"e');
    expect(await joined(2000)).toEqual(inMemory);
  });

  test('leaves nothing on the disk when it cannot be written', async () => {
    const temporary = mkdtempSync(join(tmpdir(), 'umami-'));
    vi.stubEnv('TMPDIR', temporary);
    async function* readData() {
      for (let line = 1; ; line += 1) {
        const [folder] = readdirSync(temporary);
        // In place of the second file that the sort writes.
        if (folder !== undefined) mkdirSync(join(temporary, folder, '1.ndjson'), { recursive: true });
        yield { line, value: { website_event_id: `e${line}`, data_key: 'k', string_value: 'secret' } };
      }
    }
    try {
      await expect(prepareJoin([data], { readTable: listed([]), readData }, 2000)).rejects.toThrow('EISDIR');
      expect(readdirSync(temporary)).toEqual([]);
    } finally {
      vi.unstubAllEnvs();
      rmSync(temporary, { recursive: true });
    }
  });

  test('from standard input cannot be joined, and is named', async () => {
    const all = await mapTogether(openUmami(), [events, { ...data, isOnce: true }]);
    expect(skippedOf(all)).toContain('event_data needs a file: it is read before events');
  });
});

const listed = (records: readonly ReadRecord<JsonObject>[]) =>
  async function* () {
    yield* records;
  };
