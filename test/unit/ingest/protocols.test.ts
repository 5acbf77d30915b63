// Protocols of other SDKs: where the key is, and what their calls become.
import { expect, test } from 'vitest';
import { PROTOCOL_PATHS } from '../../../src/ingest/protocols/paths.js';
import type { Head } from '../../../src/ingest/protocols/protocol.js';
import { PROTOCOLS, protocolNamed } from '../../../src/ingest/protocols/table.js';
import { parseForeign, translate } from '../../../src/ingest/protocols/translate.js';
import { SEGMENT_ORIGINS } from '../../support/segment-origins.js';

const limits = { propertiesMax: 256, userPropertiesMax: 256, keyLengthMax: 256, valueBytesMax: 8192 };
const PROTO = JSON.parse('{"__proto__":1}') as object;
const withoutLast = (object: object, count: number) => Object.fromEntries(Object.entries(object).slice(0, -count));
const NOW = Date.parse('2026-03-01T12:00:00Z');

function read(protocol: string, call: string, body: unknown) {
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  return translate({ protocol, call }, { bytes, now: NOW }, limits);
}

test('every path of a protocol is in the route matrix', () => {
  const known = PROTOCOL_PATHS.filter(({ method }) => method === 'POST').map(({ path }) => path as string);
  const paths = PROTOCOLS.flatMap(({ paths: own }) => own.map((path) => path.replaceAll(/:(\w+)/g, '{$1}')));
  expect(paths.filter((path) => !known.includes(path))).toEqual([]);
});

test.each(PROTOCOLS.map(({ name }) => name))('%s refuses a body without calls', (name) => {
  for (const body of ['5', '"x"', 'null', '{']) {
    expect(() => read(name, 'batch', body)).toThrow(expect.objectContaining({ kind: 'bad_request' }));
  }
});

test.each([
  ['segment', { writeKey: 'pk_1', batch: [] }, 'pk_1'],
  ['segment', [], undefined],
  ['posthog', { api_key: 'pk_1', batch: [] }, 'pk_1'],
  ['posthog', [{ event: 'a', properties: { token: 'pk_1' } }], 'pk_1'],
  ['posthog', { token: 'pk_1', event: 'a' }, 'pk_1'],
  ['amplitude', { api_key: 'pk_1', events: [] }, 'pk_1'],
])('%s: the key in the body %j', (name, body, key) => {
  expect(protocolNamed(name).findKey(parseForeign(name, Buffer.from(JSON.stringify(body))))).toBe(key);
});

test.each([
  [`Basic ${Buffer.from('pk_1:').toString('base64')}`, 'pk_1'],
  [`basic ${Buffer.from('pk_1:secret').toString('base64')}`, 'pk_1'],
  ['Bearer x', undefined],
])('segment: the key in the header %s', (authorization, key) => {
  expect(protocolNamed('segment').findHeadKey?.({ authorization })).toBe(key);
});

const COMMON = { messageId: 'm1', userId: 'ada', anonymousId: 'd1', timestamp: '2026-03-01T11:59:00.000Z' };
const BASE = { insert_id: 'm1', user_id: 'ada', device_id: 'd1', time: COMMON.timestamp, origin: 'server' };

test.each<[string, string, object, object]>([
  ['track', 't', { event: 'buy', properties: { price: 5 } }, { event_type: 'buy', event_properties: { price: 5 } }],
  [
    'page',
    'page',
    { name: 'Start', category: 'Docs', properties: { url: 'https://x.test/a', path: '/a', search: '' } },
    { event_type: 'page_view', event_properties: { name: 'Start', category: 'Docs', url: 'https://x.test/a' } },
  ],
  ['screen', 's', { name: 'Home' }, { event_type: 'screen_view', event_properties: { name: 'Home' } }],
  [
    'context',
    'track',
    {
      event: 'buy',
      context: {
        library: { name: 'analytics-node', version: '3.1.0' },
        page: { url: 'https://x.test/', title: 'X', referrer: '' },
        campaign: { name: 'spring', source: 'mail' },
        locale: 'de-DE',
        os: { name: 'iOS', version: '19' },
      },
    },
    {
      event_type: 'buy',
      library: 'analytics-node/3.1.0',
      event_properties: {
        ...{ url: 'https://x.test/', title: 'X', utm_campaign: 'spring', utm_source: 'mail' },
        ...{ language: 'de-DE', os_name: 'iOS', os_version: '19' },
      },
    },
  ],
  [
    'session of RudderStack',
    'track',
    { event: 'buy', context: { sessionId: 170, userAgent: 'Firefox' } },
    { event_type: 'buy', session_id: 'd1:170', origin: 'client', user_agent: 'Firefox', event_properties: {} },
  ],
])('segment: %s', (_, call, fields, expected) => {
  const { events, calls } = read('segment', call, { ...COMMON, ...fields });
  expect(events).toHaveLength(1);
  expect(events[0]).toMatchObject({ ...BASE, ...expected });
  expect(events[0]?.event_properties).toEqual((expected as { event_properties: object }).event_properties);
  expect(calls).toEqual([]);
});

test.each<[string, object, object]>([
  ['identify', { traits: { plan: 'pro' } }, { userId: 'ada', deviceId: 'd1', ops: { set: { plan: 'pro' } } }],
  [
    'group',
    { groupId: 'acme', traits: { size: 5 } },
    { userId: 'ada', deviceId: 'd1', ops: { set: { group_id: 'acme', group_size: 5 } } },
  ],
  ['alias', { previousId: 'old' }, { userId: 'ada', deviceId: 'old', ops: {} }],
])('segment: %s changes a profile', (call, fields, expected) => {
  const { events, calls } = read('segment', call, { ...COMMON, ...fields });
  expect(events).toEqual([]);
  expect(calls).toEqual([{ call: expected }]);
});

const LONG = 'x'.repeat(9000);
const MANY = Object.fromEntries(Array.from({ length: 258 }, (_, n) => [`p${n}`, n]));
const HUGE = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`p${n}`, 'x'.repeat(8000)]));

test.each<[string, object, object, object]>([
  ['a long value', { plan: 'pro', bio: LONG }, { set: { plan: 'pro' } }, { value_too_long: 1 }],
  ['an empty key', { plan: 'pro', '': 1 }, { set: { plan: 'pro' } }, { profile_not_valid: 1 }],
  ['a key of an object', JSON.parse(`{"__proto__":1,"bio":"${LONG}"}`), { set: PROTO }, { value_too_long: 1 }],
  ['more traits than allowed', MANY, { set: withoutLast(MANY, 2) }, { profile_not_valid: 2 }],
  ['traits above the size of a profile', HUGE, {}, { profile_not_valid: 1 }],
])('segment: %s costs neither the other traits nor the mapping', (_, traits, ops, counted) => {
  const { calls, skipped } = read('segment', 'identify', { ...COMMON, traits });
  expect(calls).toEqual([{ call: { userId: 'ada', deviceId: 'd1', ops } }]);
  expect(Object.fromEntries(skipped)).toEqual(counted);
});

test.each(SEGMENT_ORIGINS)(
  'segment: a call of the channel %s with the context %j has the origin %s',
  (channel, context, origin) => {
    const { events } = read('segment', 'track', { ...COMMON, event: 'a', channel, context });
    expect(events).toMatchObject([{ origin }]);
    // Without a secret key, and for an app with one, the address is that of the request.
    expect(Object.hasOwn(events[0] ?? {}, 'ip')).toBe(origin === 'server');
  },
);

test('segment: a call without a valid user is counted once, and maps nothing', () => {
  const { calls, skipped } = read('segment', 'identify', { ...COMMON, userId: 'null', traits: { bio: LONG } });
  expect([calls, Object.fromEntries(skipped)]).toEqual([[], { profile_not_valid: 1 }]);
});

test('segment: calls without an equal are counted by reason', () => {
  const batch = [{ type: 'track' }, { type: 'identify', anonymousId: 'd1' }, { type: 'other' }, 7];
  const { events, calls, skipped } = read('segment', 'batch', { batch });
  expect([events, calls]).toEqual([[], []]);
  expect(Object.fromEntries(skipped)).toEqual({ event_name_missing: 1, profile_without_user: 1, call_unknown: 2 });
});

test.each<[string, string, number | undefined]>([
  ['a right clock', '2026-03-01T12:00:30Z', undefined],
  ['a body that is repeated 72 s after a 429', '2026-03-01T11:58:48Z', undefined],
  ['a body that is repeated for the third time', '2026-03-01T11:56:20Z', undefined],
  ['a clock six minutes behind', '2026-03-01T11:54:00Z', NOW + 300_000],
  ['a clock two minutes ahead', '2026-03-01T12:02:00Z', NOW - 180_000],
  ['a clock an hour ahead', '2026-03-01T13:00:00Z', NOW - 3_660_000],
  // Corrected, it is ten years ahead, or before 2000.
  ['a clock years behind at the delivery alone', '2016-03-01T12:00:00Z', NOW],
  ['a clock decades ahead at the delivery alone', '2060-03-01T12:00:00Z', NOW],
])('segment: the time of %s', (_, sentAt, correctedMs) => {
  const { events, times } = read('segment', 'batch', { batch: [{ type: 'track', event: 'a', ...COMMON }], sentAt });
  expect(times.get(0)).toBe(correctedMs);
  expect(events[0]?.time).toBe(correctedMs === undefined ? COMMON.timestamp : undefined);
});

test('segment: older libraries send batches to /v1/import', () => {
  expect(protocolNamed('segment').calls).toContain('import');
  const { events } = read('segment', 'import', { batch: [{ type: 'track', event: 'a', ...COMMON }] });
  expect(events).toMatchObject([{ event_type: 'a', insert_id: 'm1' }]);
});

test('properties named like those of objects stay properties', () => {
  const { events } = read('segment', 'track', '{"event":"a","properties":{"__proto__":{"x":1},"constructor":2}}');
  expect(JSON.stringify(events[0]?.event_properties)).toBe('{"__proto__":{"x":1},"constructor":2}');
});

test.each<[string, string, object, number]>([
  ['segment', 'track', { event: 'a' }, 1],
  ['segment', 'batch', { batch: [{ type: 'track', event: 'a' }, 7] }, 2],
  ['posthog', '', [{ event: '$identify', distinct_id: 'ada', properties: { $anon_distinct_id: 'd' } }, 7], 2],
  ['amplitude', '', { events: [{ event_type: 'a', user_id: 'u', device_id: 'd', user_properties: { a: 1 } }] }, 1],
])('%s: a body counts with its records (%s %j)', (name, call, body, records) => {
  expect(read(name, call, body).records).toBe(records);
});

const DEVICE = '0198a5c0-0000-7000-8000-000000000001';

test.each<[string, object, object]>([
  ['of a person', { distinct_id: 'ada' }, { user_id: 'ada', device_id: undefined }],
  ['of an anonymous visitor', { distinct_id: DEVICE }, { user_id: undefined, device_id: DEVICE }],
  [
    'that says it is identified',
    { distinct_id: DEVICE, properties: { $is_identified: true } },
    { user_id: DEVICE, device_id: undefined },
  ],
  [
    'of a page',
    {
      event: '$pageview',
      properties: {
        $current_url: 'https://x.test/',
        $referrer: '$direct',
        $session_id: 's',
        $lib: 'web',
        $lib_version: '1',
        plan: 5,
      },
    },
    {
      event_type: 'page_view',
      session_id: 's',
      library: 'web/1',
      event_properties: { url: 'https://x.test/', plan: 5 },
    },
  ],
])('posthog: an event %s', (_, fields, expected) => {
  const event = { event: 'buy', uuid: 'u1', timestamp: COMMON.timestamp, ...fields };
  const { events } = read('posthog', '', { batch: [event] });
  expect(events[0]).toMatchObject({ event_type: 'buy', insert_id: 'u1', time: COMMON.timestamp, ...expected });
});

test.each<[string, object, object]>([
  [
    '$identify',
    {
      distinct_id: 'ada',
      properties: { $anon_distinct_id: DEVICE, $set: { $email: 'a@x.test' }, $set_once: { first: 1 } },
    },
    { userId: 'ada', deviceId: DEVICE, ops: { set: { email: 'a@x.test' }, setOnce: { first: 1 } } },
  ],
  ['$create_alias', { distinct_id: 'ada', properties: { alias: 'old' } }, { userId: 'ada', deviceId: 'old', ops: {} }],
  [
    '$create_alias',
    { distinct_id: DEVICE, properties: { alias: 'ada' } },
    { userId: 'ada', deviceId: DEVICE, ops: {} },
  ],
  [
    '$set',
    { distinct_id: 'ada', properties: { $set: { plan: 'pro' }, $unset: ['old'] } },
    { userId: 'ada', ops: { set: { plan: 'pro' }, unset: ['old'] } },
  ],
])('posthog: %s changes a profile', (event, fields, expected) => {
  const { events, calls } = read('posthog', '', { event, ...fields });
  expect(events).toEqual([]);
  expect(calls).toEqual([{ call: expected }]);
});

test('posthog: a body is an event, an array, a batch, or a form of base64', () => {
  const event = { event: 'buy', distinct_id: 'ada', properties: { text: '??>>' } };
  const form = (text: string) => `data=${text}`;
  const encoded = Buffer.from(JSON.stringify(event)).toString('base64');
  for (const body of [event, [event], { batch: [event] }, form(encoded), form(encodeURIComponent(encoded))]) {
    expect(read('posthog', '', body).events).toMatchObject([{ event_type: 'buy', event_properties: { text: '??>>' } }]);
  }
});

test('posthog: the second form has fields beside the properties, and the library in the head', () => {
  const [options, timestamp] = [{ process_person_profile: false }, COMMON.timestamp];
  const event = { event: 'buy', uuid: 'u1', distinct_id: 'ada', timestamp, session_id: 's', options, properties: {} };
  const bytes = Buffer.from(JSON.stringify({ created_at: timestamp, batch: [event] }));
  const readWith = (head: Head) =>
    translate({ protocol: 'posthog', call: 'events', head }, { bytes, now: NOW }, limits).events[0];
  const server = { library: 'posthog-node/5.70.0', sentAt: '2026-03-01T12:00:00Z' };
  expect(readWith(server)).toMatchObject({ user_id: 'ada', session_id: 's', library: server.library, time: timestamp });
  expect(readWith({ library: 'web/1' })).toMatchObject({ device_id: 'ada', origin: 'client', library: 'web/1' });
  // An hour ahead: the time is computed.
  expect(readWith({ sentAt: '2026-03-01T13:00:00Z' })).toMatchObject({ time: undefined });
});

test.each<[string, string, string | undefined]>([
  ['of older browser SDKs', '/e/?ip=0&_=1772370000000&ver=1.100.0', '2026-03-01T13:00:00.000Z'],
  ['of newer ones', '/e/?sent_at=1772370000000', '2026-03-01T13:00:00.000Z'],
  ['in seconds', '/e/?_=1772370000', undefined],
  ['that is none', '/e/?_=x', undefined],
  ['without a query', '/e/', undefined],
])('posthog: the time of sending in an address %s', (_, url, sentAt) => {
  expect(protocolNamed('posthog').readHead?.({}, url)).toEqual(sentAt === undefined ? {} : { sentAt });
});

test.each([
  ['Bearer pk_1', 'pk_1'],
  ['bearer sk_1 ', 'sk_1'],
  ['Bearer phx_1', undefined],
])('posthog: the key in the header %s', (authorization, key) => {
  expect(protocolNamed('posthog').findHeadKey?.({ authorization })).toBe(key);
});

test('posthog: events of models and exceptions lose long values, and stay', () => {
  const long = 'x'.repeat(9000);
  const stack = { type: 'Error', value: 'no page', stacktrace: { frames: [long] } };
  const { events, skipped } = read('posthog', '', [
    { event: '$ai_generation', distinct_id: 'ada', properties: { $ai_input: [{ content: long }], $ai_model: 'm' } },
    { event: '$exception', distinct_id: 'ada', properties: { $exception_list: [stack], n: 1 } },
    { event: '$exception', distinct_id: 'ada', properties: { $exception_list: [{ ...stack, value: long }], n: 2 } },
    { event: 'buy', distinct_id: 'ada', properties: { long } },
  ]);
  expect(events.map(({ event_properties: properties }) => properties)).toEqual([
    { $ai_model: 'm' },
    { $exception_list: [{ type: 'Error', value: 'no page' }], n: 1 },
    { n: 2 },
    { long },
  ]);
  expect([...skipped]).toEqual([['value_too_long', 3]]);
});

test('posthog: the age of an event gives its time', () => {
  const { times } = read('posthog', '', { event: 'buy', distinct_id: 'ada', offset: 5000 });
  expect([...times]).toEqual([[0, NOW - 5000]]);
});

test('amplitude: operations that are not valid cost neither the others nor the link', () => {
  const operations = { $add: { n: 'one', m: 2 }, $set: { a: 1 }, $setOnce: 'text', $unset: { '': '-', b: '-' } };
  const event = { event_type: '$identify', user_id: 'ada', device_id: 'd1', insert_id: 'i1' };
  const { calls, skipped } = read('amplitude', '', { events: [{ ...event, user_properties: operations }] });
  expect(calls).toEqual([
    { call: { userId: 'ada', ops: { set: { a: 1 }, add: { m: 2 }, unset: ['b'] } }, onceId: '$add i1' },
    { call: { userId: 'ada', deviceId: 'd1', ops: {} }, isExtra: true },
  ]);
  expect(Object.fromEntries(skipped)).toEqual({ profile_not_valid: 3 });
});

test.each<[string, number, boolean]>([
  ['a right clock', 30_000, false],
  ['a clock an hour ahead', 3_600_000, true],
  ['a clock two days behind', -2 * 86_400_000, true],
])('amplitude: the time of %s', (_, skewMs, isCorrected) => {
  const sentMs = NOW + skewMs;
  const event = { event_type: 'a', device_id: 'd', insert_id: 'i', time: sentMs - 60_000 };
  const sentAt = new Date(sentMs).toISOString();
  const { events, times } = read('amplitude', '', { events: [event], client_upload_time: sentAt });
  expect(times.get(0)).toBe(isCorrected ? NOW - 60_000 : undefined);
  expect(events[0]?.time).toBe(isCorrected ? undefined : event.time);
});

test('amplitude: events, links and profiles', () => {
  const { events, calls, skipped } = read('amplitude', '', {
    api_key: 'pk_1',
    events: [
      {
        event_type: 'buy',
        user_id: 'ada',
        device_id: 'd1',
        time: NOW,
        insert_id: 'i1',
        session_id: 5,
        platform: 'Web',
      },
      { event_type: 'look', device_id: 'd1', session_id: -1, event_properties: { platform: 'own' } },
      {
        event_type: '$identify',
        user_id: 'ada',
        insert_id: 'i2',
        user_properties: { $add: { n: 1 }, $append: { l: 1 } },
      },
      {
        event_type: '$identify',
        user_id: 'ada',
        user_properties: { $set: { a: 1 }, $setOnce: { b: 2 }, $unset: { c: '-' } },
      },
      { event_type: '$identify', device_id: 'd1', user_properties: { $set: { a: 1 } } },
      { event_type: '$groupidentify' },
      { event_type: 'session_start', device_id: 'd1' },
    ],
  });
  expect(events).toMatchObject([
    { event_type: 'buy', user_id: 'ada', device_id: 'd1', time: NOW, insert_id: 'i1', session_id: 'd1:5' },
    { event_type: 'look', device_id: 'd1', session_id: undefined, event_properties: { platform: 'own' } },
  ]);
  expect(calls).toEqual([
    { call: { userId: 'ada', ops: { add: { n: 1 } } }, onceId: '$add i2' },
    { call: { userId: 'ada', ops: { set: { a: 1 }, setOnce: { b: 2 }, unset: ['c'] } } },
    { call: { userId: 'ada', deviceId: 'd1', ops: {} }, isExtra: true },
  ]);
  expect(Object.fromEntries(skipped)).toEqual({
    ...{ operator_unknown: 1, profile_without_user: 1, group_profile: 1, session_marker: 1 },
  });
});
