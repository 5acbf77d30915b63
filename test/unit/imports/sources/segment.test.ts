// Mapping of archived calls of Segment and RudderStack, and who is one person.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { segment } from '../../../../src/imports/sources/segment/read.js';
import { eventsOf, inputOf, mapAll, peopleOf, skippedOf, testPeople } from '../../../support/imports.js';
import { SEGMENT_ORIGINS } from '../../../support/segment-origins.js';

const FIXTURE = readFileSync(new URL('fixtures/segment.ndjson', import.meta.url), 'utf8');
const mapped = await mapAll(segment, inputOf(FIXTURE));
const find = (name: string) => eventsOf(mapped).filter((event) => event.event_type === name);

test('a page is a page view with its page, campaign, agent and session, at its corrected time', () => {
  expect(find('page_view')).toEqual([
    {
      event_type: 'page_view',
      timeMs: Date.UTC(2023, 10, 14, 22, 13, 20, 123),
      insert_id: 'seg:m1',
      device_id: 'a1',
      session_id: 'a1:1700000000',
      event_properties: {
        name: 'Home',
        url: 'https://shop.example/',
        title: 'Shop',
        referrer: 'https://search.example/',
        utm_source: 'news',
        utm_campaign: 'fall',
        language: 'de-DE',
        timezone: 'Europe/Berlin',
      },
      ip: '203.0.113.9',
      user_agent: 'Mozilla/5.0',
      origin: 'client',
    },
  ]);
});

test('a track keeps its properties, and repeated calls have one key', () => {
  const [first, second] = find('Order Completed');
  expect(first).toMatchObject({
    insert_id: 'seg:m3',
    user_id: 'u1',
    device_id: 'a1',
    event_properties: { total: 12.5, products: [{ sku: 'x' }] },
  });
  expect(second).toEqual(first);
});

test('a call of a server without timestamp has its original one', () => {
  expect(find('Invoice Paid')).toEqual([
    expect.objectContaining({ timeMs: Date.UTC(2023, 10, 15, 10), origin: 'server', user_id: 'u2' }),
  ]);
});

test('a screen has its name and device', () => {
  expect(find('screen_view')[0]?.event_properties).toEqual({
    ...{ name: 'Cart', category: 'Shop', app_version: '1.2' },
    ...{ os_name: 'iOS', os_version: '17', device_model: 'iPhone' },
  });
});

test('identify and group are profiles; traits of a group are not those of the user', () => {
  const profiles = mapped.flatMap((item) => (item.kind === 'profile' ? [[item.user, item.properties]] : []));
  expect(profiles).toEqual([
    ['u1', { email: 'ann@shop.example', plan: 'pro', channel: 'search' }],
    ['u1', { group_id: 'g1', group_name: 'Shop', group_seats: 5 }],
  ]);
});

test.each(SEGMENT_ORIGINS)(
  'a call of the channel %s with the context %j has the origin %s',
  async (channel, context, origin) => {
    const call = { type: 'track', event: 'e', messageId: 'm', timestamp: '2023-01-01T00:00:00Z', channel, context };
    expect(eventsOf(await mapAll(segment, inputOf(JSON.stringify(call))))).toMatchObject([{ origin }]);
  },
);

test.each([
  ['of a browser', { channel: 'web', context: { userAgent: 'Firefox' } }, '203.0.113.9'],
  ['of a browser that says its own', { channel: 'web', context: { ip: '198.51.100.7' } }, '198.51.100.7'],
  // The sender is not the user.
  ['of a server', { channel: 'server' }, undefined],
])('the address of a call of RudderStack %s', async (_, fields, address) => {
  const call = { type: 'track', event: 'e', messageId: 'm', request_ip: '203.0.113.9', ...fields };
  expect(eventsOf(await mapAll(segment, inputOf(JSON.stringify(call))))).toMatchObject([{ ip: address }]);
});

test('what has no equal is skipped with a reason', () => {
  expect(skippedOf(mapped)).toEqual([
    'not JSON',
    'identify without a user: profiles are of users',
    'a track without an event',
    'no call of a known type',
  ]);
});

test('identify and alias make one person of what came before', () => {
  expect(peopleOf(mapped)).toEqual([
    ['page_view', 'u1'],
    ['Order Completed', 'u1'],
    ['Order Completed', 'u1'],
    ['Invoice Paid', 'u2'],
    ['screen_view', 'u2'],
  ]);
});

const CALL = (hour: number, ids: object) =>
  JSON.stringify({ type: 'track', event: 'e', messageId: `${hour}`, timestamp: `2023-01-01T0${hour}:00:00Z`, ...ids });

testPeople(segment, [
  ['an anonymous id alone', [CALL(1, { anonymousId: 'a' })], ['a']],
  [
    'a track with both ids links them',
    [CALL(1, { anonymousId: 'a' }), CALL(2, { anonymousId: 'a', userId: 'u' })],
    ['u', 'u'],
  ],
  [
    'two users on one device: its own events are the last one’s',
    [
      CALL(1, { anonymousId: 'a' }),
      CALL(3, { anonymousId: 'a', userId: 'v' }),
      CALL(2, { anonymousId: 'a', userId: 'u' }),
    ],
    ['v', 'v', 'u'],
  ],
]);
