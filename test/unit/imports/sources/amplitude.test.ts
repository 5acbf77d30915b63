// Mapping of Amplitude's export, and who is one person.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { continentCodeOf, countryCodeOf } from '../../../../src/imports/places.js';
import { amplitude } from '../../../../src/imports/sources/amplitude/read.js';
import { eventsOf, inputOf, mapAll, peopleOf, skippedOf, testPeople } from '../../../support/imports.js';

const FIXTURE = readFileSync(new URL('fixtures/amplitude.ndjson', import.meta.url), 'utf8');
const mapped = await mapAll(amplitude, inputOf(FIXTURE));
const find = (name: string) => eventsOf(mapped).filter((event) => event.event_type === name);

test('a page view has its page, session, country code and properties', () => {
  expect(find('page_view')).toEqual([
    {
      event_type: 'page_view',
      timeMs: Date.UTC(2023, 10, 14, 22, 13, 20, 123),
      insert_id: 'amp:a1',
      device_id: 'w1',
      session_id: 'w1:1700000000000',
      event_properties: {
        url: 'https://shop.example/?utm_source=news',
        title: 'Shop',
        '[Amplitude] Page Path': '/',
        referrer: 'https://search.example/',
        language: 'English',
        platform: 'Web',
        os_name: 'Chrome',
        os_version: '119',
      },
      user_properties: { plan: 'free' },
      ip: '203.0.113.9',
      geo: { country: 'US', region: 'California', city: 'San Francisco', latitude: 37.7, longitude: -122.4 },
      agent: { browser: 'Chrome', browser_version: '119' },
      origin: 'client',
    },
  ]);
});

test('session -1 is none, an unknown country is left to the address, and properties may be text', () => {
  expect(find('Paid')).toEqual([
    expect.objectContaining({ event_properties: { amount: 5 }, ip: '198.51.100.4', origin: 'server' }),
  ]);
  expect([find('Paid')[0]?.session_id, find('Paid')[0]?.geo]).toEqual([undefined, undefined]);
});

test('repeated events have one key', () => {
  const [first, second] = find('Signed Up');
  expect(first).toMatchObject({ insert_id: 'amp:a3', geo: { country: 'TR' } });
  expect(second).toEqual(first);
});

test('properties of a user are profiles, without EMPTY', () => {
  const profiles = mapped.flatMap((item) => (item.kind === 'profile' ? [[item.user, item.properties]] : []));
  expect(profiles).toEqual([
    ['ann@shop.example', { plan: 'pro', email: 'ann@shop.example' }],
    ['ann@shop.example', { plan: 'pro', email: 'ann@shop.example' }],
    ['bob', { plan: 'basic' }],
  ]);
});

test('what has no equal is skipped with a reason', () => {
  expect(skippedOf(mapped)).toEqual([
    'session_start: sessions follow from events',
    'not JSON',
    '$identify of a device: profiles are of users',
    '$groupidentify: groups have no profiles',
  ]);
});

test('a device is the person of its user, before and after', () => {
  expect(peopleOf(mapped)).toEqual([
    ['page_view', 'ann@shop.example'],
    ['Signed Up', 'ann@shop.example'],
    ['Signed Up', 'ann@shop.example'],
    ['Paid', 'ann@shop.example'],
    ['Opened', 'bob'],
    ['No time', 'ann@shop.example'],
  ]);
});

const EVENT = (hour: number, user: string | null, device: string | null) =>
  JSON.stringify({ event_type: 'e', event_time: `2023-01-01 0${hour}:00:00.0`, user_id: user, device_id: device });

testPeople(amplitude, [
  ['a device without a user', [EVENT(1, null, 'd')], ['d']],
  [
    'one user on two devices',
    [EVENT(1, null, 'd'), EVENT(2, 'u', 'd'), EVENT(3, 'u', 'e'), EVENT(4, null, 'e')],
    ['u', 'u', 'u', 'u'],
  ],
  [
    'a session_start, which is no event here, links as well',
    [EVENT(1, null, 'd'), JSON.stringify({ ...JSON.parse(EVENT(2, 'u', 'd')), event_type: 'session_start' })],
    ['u'],
  ],
  [
    'two users on one device: its own events are the last one’s',
    [EVENT(1, null, 'd'), EVENT(2, 'u', 'd'), EVENT(3, 'v', 'd')],
    ['v', 'u', 'v'],
  ],
]);

const COUNTRIES: readonly (readonly [name: string, code: string | undefined])[] = [
  ['Germany', 'DE'],
  ['de', 'DE'],
  ['Czech Republic', 'CZ'],
  ['Côte d’Ivoire', 'CI'],
  ["Cote d'Ivoire", 'CI'],
  ['Myanmar (Burma)', 'MM'],
  ['Bosnia & Herzegovina', 'BA'],
  ['South Korea', 'KR'],
  ['Korea, Republic of', 'KR'],
  ['Hong Kong', 'HK'],
  ['United States of America', 'US'],
  ['Atlantis', undefined],
  ['ZZ', undefined],
];

test.each(COUNTRIES)('countryCodeOf(%s) is %s', (name, code) => expect(countryCodeOf(name)).toBe(code));

test('continents have codes, except "Americas"', () => {
  expect([continentCodeOf('Europe'), continentCodeOf('Americas'), continentCodeOf(undefined)]).toEqual([
    ...['EU', undefined, undefined],
  ]);
  expect(continentCodeOf('constructor')).toBeUndefined();
});
