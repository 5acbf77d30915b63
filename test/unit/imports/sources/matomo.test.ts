// Mapping of Matomo's visits, and who is one person.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { matomo } from '../../../../src/imports/sources/matomo/read.js';
import { eventsOf, inputOf, mapAll, peopleOf, skippedOf, testPeople } from '../../../support/imports.js';

const FIXTURE = readFileSync(new URL('fixtures/matomo.txt', import.meta.url), 'utf8');
const mapped = await mapAll(matomo, inputOf(FIXTURE));
const find = (name: string) => eventsOf(mapped).filter((event) => event.event_type === name);

test('a page view has its page and the fields of its visit; the first one the referrer', () => {
  expect(find('page_view')[0]).toEqual({
    event_type: 'page_view',
    timeMs: 1_700_000_000_000,
    insert_id: 'ma:101.p1',
    device_id: 'ma-d1',
    session_id: '101',
    event_properties: {
      url: 'https://shop.example/',
      title: 'Shop',
      seconds_spent: 60,
      referrer: 'https://search.example/{}"',
      utm_campaign: 'fall',
      language: 'de',
      browser: 'Chrome',
      browser_version: '119',
      os_name: 'Windows',
      os_version: '10',
      device_category: 'Desktop',
      screen: '1920x1080',
      site_id: '1',
      dimension1: 'vip',
    },
    ip: '203.0.113.0',
    agent: { browser: 'Chrome', browser_version: '119', os: 'Windows', os_version: '10', device_type: 'desktop' },
    geo: {
      ...{ country: 'DE', region: 'Berlin', region_code: 'BE', city: 'Berlin', continent: 'EU' },
      ...{ latitude: 52.5, longitude: 13.4 },
    },
    origin: 'client',
  });
});

test('other actions have their own types and ids, also within one page view', () => {
  expect(find('play')[0]).toMatchObject({
    insert_id: 'ma:101.1',
    event_properties: { event_category: 'video', event_name: 'intro', event_value: 3 },
  });
  expect(find('play')[0]?.event_properties).not.toHaveProperty('referrer');
  expect(find('search')[0]?.event_properties).toMatchObject({ search_keyword: 'shoes' });
  expect(find('goal')[0]?.event_properties).toMatchObject({ goal_name: 'Signup', goal_id: '2', revenue: 5 });
  expect(find('ecommerce_order')[0]?.event_properties).toMatchObject({ order_id: 'o1', items: [{ sku: 'x' }] });
});

test('an action that is unknown here keeps the name of its type', async () => {
  const visit = { ...JSON.parse(VISIT(1, 'a')), actionDetails: [{ type: 'media', timestamp: 1_700_000_000 }] };
  expect(eventsOf(await mapAll(matomo, inputOf(JSON.stringify(visit)))).map((event) => event.event_type)).toEqual([
    'media',
  ]);
});

test('a visit that cannot be read, and an error of the API, are skipped with a reason', () => {
  expect(skippedOf(mapped)).toEqual(['not JSON', "not a visit: You can't access this resource"]);
});

test('a visitor is the person of the user, also in earlier visits', () => {
  expect(new Set(peopleOf(mapped).map(([, person]) => person))).toEqual(new Set(['ma-user']));
});

test('chunks of any size and line breaks anywhere give the same visits', async () => {
  const file = (text: string, size: number) => ({
    name: 'text',
    open: async function* () {
      const bytes = Buffer.from(text);
      for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
    },
  });
  for (const size of [1, 7, 1e6]) expect(await mapAll(matomo, file(FIXTURE, size))).toEqual(mapped);
});

/** A visit with one action. */
const VISIT = (second: number, visitorId: string | undefined, userId: string | null = null) =>
  JSON.stringify({
    ...{ idVisit: String(second), visitorId, userId, lastActionTimestamp: 1_700_000_000 + second },
    actionDetails: [{ type: 'action', url: 'https://shop.example/', timestamp: 1_700_000_000 + second }],
  });

test.each([
  ['within a visit', `[${VISIT(1, 'a')},${VISIT(2, 'a').slice(0, -9)}`, 'object 2 is not complete'],
  ['between two visits', `[${VISIT(1, 'a')},`, 'the array is not closed after object 1'],
])('an answer that ends %s is no whole file', async (_where, text, message) => {
  await expect(mapAll(matomo, inputOf(text))).rejects.toThrow(message);
});

test('text around the visits is named, such as the page of a gateway', async () => {
  const named = [{ kind: 'skip', reason: 'not JSON: text outside of the objects' }];
  expect(await mapAll(matomo, inputOf('Error 504: gateway time-out\n'))).toEqual(named);
  const warned = await mapAll(matomo, inputOf(`Warning: slow\n[${VISIT(1, 'a')}]`));
  expect([eventsOf(warned).length, skippedOf(warned)]).toEqual([1, ['not JSON: text outside of the objects']]);
});

testPeople(matomo, [
  ['a visitor without a user is a person of its own', [VISIT(1, 'a'), VISIT(2, 'a'), VISIT(3, 'b')], ['a', 'a', 'b']],
  [
    'visits before and after the sign-in are of one person',
    [VISIT(1, 'a'), VISIT(2, 'a', 'u'), VISIT(3, 'a')],
    ['u', 'u', 'u'],
  ],
  ['a user in two browsers is one person', [VISIT(1, 'a', 'u'), VISIT(2, 'b'), VISIT(3, 'b', 'u')], ['u', 'u', 'u']],
  [
    'of two users in one browser the last by time has its visits without a user',
    [VISIT(3, 'a', 'v'), VISIT(1, 'a', 'u'), VISIT(2, 'a')],
    ['v', 'u', 'v'],
  ],
  [
    'a visit without a visitor is of its user, or of no one',
    [VISIT(1, undefined, 'u'), VISIT(2, undefined)],
    ['u', undefined],
  ],
]);
