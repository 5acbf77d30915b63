// Mapping of Mixpanel's raw export and people, and who is one person.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { DerivedSessions } from '../../../../src/imports/derived-sessions.js';
import { mixpanel } from '../../../../src/imports/sources/mixpanel/read.js';
import { eventsOf, inputOf, mapAll, peopleOf, skippedOf, testPeople } from '../../../support/imports.js';

const FIXTURE = readFileSync(new URL('fixtures/mixpanel.ndjson', import.meta.url), 'utf8');
const mapped = await mapAll(mixpanel, inputOf(FIXTURE));
const events = eventsOf(mapped);
const find = (name: string) => events.filter((event) => event.event_type === name);

test('a page view has its page, country and device, and nothing of Mixpanel itself', () => {
  expect(find('page_view')).toEqual([
    {
      event_type: 'page_view',
      timeMs: 1_700_000_000_000,
      insert_id: 'mp:i1',
      device_id: 'd1',
      session_id: 'mp:d1:1700000000',
      event_properties: {
        url: 'https://shop.example/?utm_source=news',
        title: 'Shop',
        $browser: 'Chrome',
        $os: 'Mac OS X',
        mp_lib: 'web',
      },
      geo: { country: 'DE', region: 'Berlin', city: 'Berlin' },
      agent: { browser: 'Chrome', os: 'Mac OS' },
      origin: 'client',
    },
  ]);
});

test('an event keeps its properties and the session of its device', () => {
  const [event, repeated] = find('Signed up');
  expect(event).toMatchObject({
    insert_id: 'mp:i2',
    user_id: 'u1',
    device_id: 'd1',
    session_id: 'mp:d1:1700000000',
    event_properties: { referrer: 'https://search.example/', plan: 'pro', seats: 3, tags: ['a', 'b'] },
  });
  // The export is not de-duplicated: the service counts both once, because their keys are equal.
  expect(repeated).toEqual(event);
});

test('equal events without $insert_id are two, and milliseconds are read', () => {
  const [first, second] = find('Invoice paid');
  expect(first).toMatchObject({ timeMs: 1_700_003_000_123, user_id: 'u1', origin: 'server' });
  expect(second?.insert_id).toBe(`${first?.insert_id}.1`);
});

test('a session ends after 30 minutes', () => {
  const sessions = find('Invoice paid').map((event) => event.session_id);
  expect(sessions).toEqual(['mp:u1:1700003000', 'mp:u1:1700003000']);
});

const SESSIONS: readonly (readonly [rule: string, minutes: readonly number[], sessions: readonly number[]])[] = [
  ['records in descending order are of one session', [60, 50, 40, 30, 20, 10], [60, 60, 60, 60, 60, 60]],
  ['records of two sessions may take turns', [120, 60, 121, 61, 59, 119], [120, 60, 120, 60, 60, 120]],
  ['a gap of more than 30 minutes begins a session', [0, 30, 61], [0, 0, 61]],
];

test.each(SESSIONS)('sessions: %s', (_rule, minutes, sessions) => {
  const derived = new DerivedSessions('mp');
  const ids = minutes.map((minute) => derived.of('u', minute * 60_000));
  expect(ids).toEqual(sessions.map((minute) => `mp:u:${minute * 60}`));
});

test('what has no equal is skipped with a reason', () => {
  expect(skippedOf(mapped)).toEqual([
    'not JSON',
    '$merge of two users: users are never merged here',
    'the profile of a device: profiles here are of users',
  ]);
  expect(find('No time').map((event) => event.timeMs)).toEqual([undefined]);
});

test('an export that Mixpanel refused says why', async () => {
  const answer = '{"request": "/api/2.0/export", "error": "Unable to authenticate request"}';
  expect(skippedOf(await mapAll(mixpanel, inputOf(answer)))).toEqual([
    'neither an event nor a person: Unable to authenticate request',
  ]);
});

test('people are profiles at the time that they were last seen', () => {
  const profiles = mapped.filter((item) => item.kind === 'profile');
  expect(profiles).toEqual([
    {
      kind: 'profile',
      user: 'u1',
      timeMs: Date.UTC(2023, 10, 15, 10),
      properties: { email: 'ann@shop.example', name: 'Ann', plan: 'pro' },
    },
    { kind: 'profile', user: 'u1', timeMs: Date.UTC(2023, 10, 14, 10), properties: { plan: 'basic' } },
  ]);
});

const NAMED = (event: string, time: number, properties: object) =>
  JSON.stringify({ event, properties: { time, ...properties } });
const EVENT = (time: number, properties: object) => NAMED('e', time, properties);

/** Ids that libraries make. */
const PHONE = '018C0000-0000-4000-8000-00000000000A';
const LAPTOP = '17f0a1b2c3d4e5-0a1b2c3d4e5f6-1f3d5b7a-1fa400-17f0a1b2c3d5e6';

testPeople(mixpanel, [
  ['$device: in distinct_id is a device', [EVENT(1e9, { distinct_id: '$device:a' })], ['a']],
  [
    'an event with a device and a user links them',
    [EVENT(1e9, { distinct_id: '$device:a' }), EVENT(1e9 + 1, { distinct_id: 'u', $device_id: 'a', $user_id: 'u' })],
    ['u', 'u'],
  ],
  ['a distinct_id of a server is a user', [EVENT(1e9, { distinct_id: 'u' })], ['u']],
  [
    'the last link by time holds, in any order of lines',
    [
      EVENT(1e9 + 5, { distinct_id: 'v', $device_id: 'a', $user_id: 'v' }),
      EVENT(1e9 + 1, { distinct_id: 'u', $device_id: 'a', $user_id: 'u' }),
      EVENT(1e9, { distinct_id: '$device:a' }),
    ],
    ['v', 'u', 'v'],
  ],
  [
    'a device is the canonical id of its user, who has two devices',
    [
      EVENT(1e9, { distinct_id: PHONE, $device_id: PHONE }),
      EVENT(1e9 + 1, { distinct_id: PHONE, $device_id: PHONE, $user_id: 'u', $distinct_id_before_identity: 'u' }),
      EVENT(1e9 + 2, { distinct_id: PHONE, $device_id: LAPTOP, $distinct_id_before_identity: LAPTOP }),
      EVENT(1e9 + 3, { distinct_id: PHONE, $device_id: LAPTOP, $user_id: 'u', $distinct_id_before_identity: 'u' }),
    ],
    ['u', 'u', 'u', 'u'],
  ],
  [
    'two devices without a user, of which one is the canonical id',
    [
      EVENT(1e9, { distinct_id: PHONE, $device_id: PHONE }),
      EVENT(1e9 + 1, { distinct_id: PHONE, $device_id: LAPTOP, $distinct_id_before_identity: LAPTOP }),
      EVENT(1e9 + 2, { distinct_id: LAPTOP, $device_id: LAPTOP }),
    ],
    [PHONE, PHONE, PHONE],
  ],
  [
    'a server knows the user of whom a device is the canonical id',
    [
      EVENT(1e9, { distinct_id: PHONE, $device_id: PHONE }),
      EVENT(1e9 + 1, { distinct_id: PHONE, $distinct_id_before_identity: 'u' }),
    ],
    ['u', 'u'],
  ],
  [
    'a user, whose id is a UUID, of an event before the login',
    [EVENT(1e9, { distinct_id: PHONE, $device_id: LAPTOP, $distinct_id_before_identity: `$device:${LAPTOP}` })],
    [PHONE],
  ],
  [
    '$merge of an id that a library made',
    [EVENT(1e9, { distinct_id: PHONE }), NAMED('$merge', 1e9 + 1, { $distinct_ids: ['u', PHONE] })],
    ['u'],
  ],
  [
    '$create_alias of an anonymous id, whichever of the two is named first',
    [EVENT(1e9, { distinct_id: PHONE }), NAMED('$create_alias', 1e9 + 1, { distinct_id: 'u', alias: PHONE })],
    ['u'],
  ],
]);

test('an event before the login has its device, though Mixpanel has put the user in its place', async () => {
  const ids = { distinct_id: 'u', $distinct_id_before_identity: PHONE };
  expect(eventsOf(await mapAll(mixpanel, inputOf(EVENT(1e9, ids))))).toMatchObject([
    { user_id: 'u', device_id: PHONE },
  ]);
});

test('an event of the Java library is of a server', async () => {
  const [event] = eventsOf(await mapAll(mixpanel, inputOf(EVENT(1e9, { distinct_id: 'u', mp_lib: 'jdk' }))));
  expect(event?.origin).toBe('server');
});

test('$identify and $create_alias make one person of what came before', () => {
  expect(Object.fromEntries(peopleOf(mapped))).toMatchObject({ page_view: 'u1', 'Opened app': 'u2', 'Old page': 'u3' });
});

test('times of old projects are local: --source-timezone converts them', async () => {
  const at = async (time: number) => {
    const events = eventsOf(await mapAll(mixpanel, inputOf(EVENT(time, {})), { timeZone: 'America/New_York' }));
    return new Date(events[0]?.timeMs ?? 0).toISOString();
  };
  expect(await at(Date.UTC(2023, 0, 1, 12) / 1000)).toBe('2023-01-01T17:00:00.000Z');
  expect(await at(Date.UTC(2023, 6, 1, 12) / 1000)).toBe('2023-07-01T16:00:00.000Z');
  expect(await at(Date.UTC(2023, 10, 5, 1, 30) / 1000)).toBe('2023-11-05T05:30:00.000Z');
});
