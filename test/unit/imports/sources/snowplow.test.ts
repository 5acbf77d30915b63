// Mapping of Snowplow's enriched events, and who is one person.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { COLUMNS } from '../../../../src/imports/sources/snowplow/columns.js';
import { snowplow } from '../../../../src/imports/sources/snowplow/read.js';
import { eventsOf, inputOf, mapAll, peopleOf, skippedOf, testPeople } from '../../../support/imports.js';

const FIXTURE = readFileSync(new URL('fixtures/snowplow.tsv', import.meta.url), 'utf8');
const mapped = await mapAll(snowplow, inputOf(FIXTURE));
const find = (name: string) => eventsOf(mapped).filter((event) => event.event_type === name);

test('an enriched event has 131 fields', () => expect(COLUMNS).toHaveLength(131));

test('a page view has its page, campaign, contexts, agent and place', () => {
  expect(find('page_view')[0]).toEqual({
    event_type: 'page_view',
    timeMs: Date.UTC(2023, 10, 14, 22, 13, 20, 123),
    insert_id: 'sp:e1.f1',
    device_id: 'sp-d1',
    session_id: 'sp-s1',
    event_properties: {
      url: 'https://shop.example/?utm_source=news',
      title: 'Shop',
      referrer: 'https://search.example/',
      utm_source: 'news',
      language: 'de-DE',
      app_id: 'shop',
      platform: 'web',
      context_product: [{ sku: 'x' }, { sku: 'y' }],
      context_ab: { v: 1 },
    },
    ip: '203.0.113.9',
    user_agent: 'Mozilla/5.0',
    geo: {
      ...{ country: 'DE', region: 'Land Berlin', region_code: 'BE', city: 'Berlin', timezone: 'Europe/Berlin' },
      ...{ latitude: 52.5, longitude: 13.4 },
    },
    origin: 'client',
  });
});

test('a synthetic duplicate is an event, a natural one is none', () => {
  expect(find('page_view').map((event) => event.insert_id)).toEqual(['sp:e1.f1', 'sp:e1.f2']);
});

test('structured events have the name of their action, self-describing ones that of their schema', () => {
  expect(find('play')[0]?.event_properties).toMatchObject({ category: 'video', label: 'intro', value: 3 });
  expect(find('link_click')[0]?.event_properties).toMatchObject({ targetUrl: 'https://x.example/' });
});

test('without a derived time that of the collector counts', () => {
  expect(find('transaction')).toEqual([
    expect.objectContaining({
      timeMs: Date.UTC(2023, 10, 14, 22, 13, 21),
      event_properties: expect.objectContaining({ tr_orderid: 'o1', tr_total: 12.5 }),
      origin: 'server',
    }),
  ]);
});

test('what cannot be read is skipped with a reason', () => {
  expect(skippedOf(mapped)).toEqual([
    'a natural duplicate: the event was collected twice',
    'not an enriched event of 131 fields',
  ]);
});

test('a file that ends within an event is refused after the events before', async () => {
  const [first = ''] = FIXTURE.split('\n');
  const cut = `${first}\n${first.slice(0, first.length / 2)}`;
  await expect(mapAll(snowplow, inputOf(cut))).rejects.toThrow('line 2 is not complete');
});

test('a device is the person of its user', () => {
  expect(peopleOf(mapped).map(([, person]) => person)).toEqual([
    ...['sp-user', 'sp-user', 'sp-user', 'sp-user', 'sp-user-2'],
  ]);
});

test('CSV with a header is the same', async () => {
  const csv = 'event,event_id,derived_tstamp,user_id\npage_view,e9,2023-11-14 22:13:20.5,u\n';
  const [event] = eventsOf(await mapAll(snowplow, { ...inputOf(csv), name: 'events.csv' }));
  expect(event).toMatchObject({ insert_id: 'sp:e9', timeMs: Date.UTC(2023, 10, 14, 22, 13, 20, 500), user_id: 'u' });
});

const WAREHOUSE = {
  EVENT: 'unstruct',
  EVENT_ID: 'e9',
  EVENT_NAME: 'order',
  DERIVED_TSTAMP: '2023-11-14 22:13:20.5',
  CONTEXTS: '{"data":[{"schema":"iglu:com.acme/ab/jsonschema/1-0-0","data":{"v":1}}]}',
  UNSTRUCT_EVENT_COM_ACME_ORDER_1: '{"total":5}',
  UNSTRUCT_EVENT_COM_ACME_REFUND_1: '',
  CONTEXTS_COM_ACME_PRODUCT_1: '[{"sku":"x"}]',
  CONTEXTS_COM_ACME_PRODUCT_2_0_1: '[{"sku":"y"}]',
  CONTEXTS_COM_SNOWPLOWANALYTICS_SNOWPLOW_WEB_PAGE_1: '[{"id":"p"}]',
  CONTEXTS_COM_ACME_NONE_1: '[]',
  CONTEXTS_COM_ACME_BROKEN_1: '[{',
};

test('CSV of a warehouse has a column for each schema, under names in capitals', async () => {
  const quote = (text: string) => `"${text.replaceAll('"', '""')}"`;
  const csv = `${Object.keys(WAREHOUSE).join()}\n${Object.values(WAREHOUSE).map(quote).join()}\n`;
  const [event] = eventsOf(await mapAll(snowplow, { ...inputOf(csv), name: 'events.csv' }));
  expect(event).toMatchObject({ event_type: 'order', insert_id: 'sp:e9' });
  expect(event?.event_properties).toEqual({
    total: 5,
    context_ab: { v: 1 },
    context_product: [{ sku: 'x' }, { sku: 'y' }],
    context_web_page: { id: 'p' },
  });
});

const ROW = (second: number, ids: Readonly<Record<string, string>>) => {
  const row: Readonly<Record<string, string>> = {
    ...{ app_id: 'shop', platform: 'web', event: 'page_view', event_id: `${second}` },
    ...{ derived_tstamp: `2023-01-01 00:00:0${second}`, ...ids },
  };
  return COLUMNS.map((name) => row[name] ?? '').join('\t');
};
const IN_BROWSER = (second: number, device: string, user = '') => ROW(second, { domain_userid: device, user_id: user });

testPeople(snowplow, [
  ['a cookie without a user is a person of its own', [IN_BROWSER(1, 'a'), IN_BROWSER(2, 'b')], ['a', 'b']],
  [
    'events before and after the sign-in are of one person',
    [IN_BROWSER(1, 'a'), IN_BROWSER(2, 'a', 'u'), IN_BROWSER(3, 'a')],
    ['u', 'u', 'u'],
  ],
  [
    'a user in two browsers is one person',
    [IN_BROWSER(1, 'a', 'u'), IN_BROWSER(2, 'b'), IN_BROWSER(3, 'b', 'u')],
    ['u', 'u', 'u'],
  ],
  [
    'of two users in one browser the last by time has its events without a user',
    [IN_BROWSER(3, 'a', 'v'), IN_BROWSER(1, 'a', 'u'), IN_BROWSER(2, 'a')],
    ['v', 'u', 'v'],
  ],
  ['the cookie of the collector is the device where the page has none', [ROW(1, { network_userid: 'n' })], ['n']],
  ['an event of a server is of its user', [ROW(1, { platform: 'srv', user_id: 'u' })], ['u']],
  ['an event without any id has no person', [ROW(1, {})], [undefined]],
]);
