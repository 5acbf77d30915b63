// Mapping of the BigQuery export of Google Analytics 4, and who is one person.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ga4 } from '../../../../src/imports/sources/ga4/read.js';
import { eventsOf, inputOf, mapAll, peopleOf, skippedOf, testPeople } from '../../../support/imports.js';

const FIXTURE = readFileSync(new URL('fixtures/ga4.ndjson', import.meta.url), 'utf8');
const mapped = await mapAll(ga4, inputOf(FIXTURE));
const find = (name: string) => eventsOf(mapped).filter((event) => event.event_type === name);

test('a page view has its page, campaign, session and place', () => {
  expect(find('page_view')[0]).toEqual({
    event_type: 'page_view',
    timeMs: 1_700_000_000_123,
    // Never another one: events that were imported before would be imported again.
    insert_id: 'ga4:MtMpz7DfzxmEsBbB4ESzf5',
    device_id: '1.2',
    session_id: '1.2.1699999990',
    event_properties: {
      url: 'https://shop.example/?utm_source=news',
      title: 'Shop',
      referrer: 'https://search.example/',
      utm_source: 'news',
      gclid: 'g1',
      language: 'de-de',
      device_category: 'desktop',
      browser: 'Chrome',
      browser_version: '119',
      os_name: 'Windows',
      stream_id: '7',
      platform: 'WEB',
    },
    user_properties: {},
    agent: { browser: 'Chrome', browser_version: '119', os: 'Windows', device_type: 'desktop' },
    geo: { country: 'DE', region: 'Berlin', city: 'Berlin', continent: 'EU' },
    origin: 'client',
  });
});

test('a day that was written again with another attribution has the same keys', () => {
  const [first, second] = find('page_view');
  expect(second?.insert_id).toBe(first?.insert_id);
});

test('two clicks in one microsecond differ by their batch ids', () => {
  const [first, second] = find('click');
  expect(second?.insert_id).not.toBe(first?.insert_id);
});

test('parameters keep their types; integers that a number cannot hold stay text', () => {
  expect(find('purchase')[0]?.event_properties).toEqual({
    ...{ value: 12.5, coupons: 2, big: '9007199254740993', app_version: '1.0' },
    ...{ transaction_id: 't1', purchase_revenue: 12.5, value_in_usd: 13.1, items: [{ item_id: 'sku' }] },
  });
});

test('Google’s word for no transaction is none', async () => {
  const record = { event_name: 'view_item', event_timestamp: '1700000000000000' };
  const text = JSON.stringify({ ...record, ecommerce: { transaction_id: '(not set)', purchase_revenue: null } });
  expect(eventsOf(await mapAll(ga4, inputOf(text)))[0]?.event_properties).toEqual({});
});

test('user properties are those of the event and of the profile', () => {
  expect(mapped.filter((item) => item.kind === 'profile')).toEqual([
    { kind: 'profile', user: 'ga-user-1', timeMs: 1_700_000_200_000, properties: { plan: 'pro' } },
  ]);
  expect(find('purchase')[0]?.user_properties).toEqual({ plan: 'pro' });
});

test('what has no equal is skipped with a reason', () => {
  expect(skippedOf(mapped)).toEqual(['session_start: it follows from events', 'not JSON']);
});

test('a device is the person of its user, and without consent there is no person', () => {
  expect(Object.fromEntries(peopleOf(mapped))).toEqual({
    page_view: 'ga-user-1',
    click: 'ga-user-1',
    purchase: 'ga-user-1',
    refused_consent: undefined,
  });
});

const EVENT = (second: number, device?: string, user?: string, fields: object = {}) =>
  JSON.stringify({
    event_name: 'e',
    event_timestamp: String((1_700_000_000 + second) * 1e6),
    user_pseudo_id: device,
    user_id: user,
    ...fields,
  });

test('the traffic source of an event is in its properties', async () => {
  const source = { medium: 'cpc', campaign_name: 'fall', term: 'shoes', content: 'banner', source: 'news' };
  const manual = Object.fromEntries(Object.entries(source).map(([name, value]) => [`manual_${name}`, value]));
  const fields = { collected_traffic_source: { ...manual, gclid: 'click' } };
  const [event] = eventsOf(await mapAll(ga4, inputOf(EVENT(1, 'a', undefined, fields))));
  expect(event?.event_properties).toEqual({
    ...{ utm_source: 'news', utm_medium: 'cpc', utm_campaign: 'fall', utm_term: 'shoes', utm_content: 'banner' },
    gclid: 'click',
  });
});

testPeople(ga4, [
  ['a device without a user is a person of its own', [EVENT(1, 'a'), EVENT(2, 'b')], ['a', 'b']],
  [
    'events before and after the sign-in are of one person',
    [EVENT(1, 'a'), EVENT(2, 'a', 'u'), EVENT(3, 'a')],
    ['u', 'u', 'u'],
  ],
  ['a user on two devices is one person', [EVENT(1, 'a', 'u'), EVENT(2, 'b'), EVENT(3, 'b', 'u')], ['u', 'u', 'u']],
  [
    'a session_start, which is no event here, links as well',
    [EVENT(1, 'a'), EVENT(2, 'a', 'u', { event_name: 'session_start' })],
    ['u'],
  ],
  [
    'of two users on one device the last by time has its events without a user',
    [EVENT(3, 'a', 'v'), EVENT(1, 'a', 'u'), EVENT(2, 'a')],
    ['v', 'u', 'v'],
  ],
  ['a user without a device is that user', [EVENT(1, undefined, 'u')], ['u']],
  ['without consent there is no person', [EVENT(1)], [undefined]],
  ['a null in BigQuery is no id', [JSON.stringify({ ...JSON.parse(EVENT(1, 'a')), user_id: null })], ['a']],
]);
