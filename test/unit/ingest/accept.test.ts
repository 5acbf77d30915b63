// Envelope of a /track request and its replay: skipped events, ids, times, geography, IP policy and
// overridden client fields.
import { describe, expect, test } from 'vitest';
import type { Credential } from '../../../src/access/credentials.js';
import { acceptRequest } from '../../../src/ingest/accept.js';
import { parseTrackBody } from '../../../src/ingest/body.js';
import { decodeEnvelopes, encodeEnvelopes } from '../../../src/ingest/envelope.js';
import { type AcceptedEvent, monthsOf, parseEnvelope, replayEvents } from '../../../src/ingest/insert/replay-events.js';
import { toOrganizationId, toProjectId } from '../../../src/platform/ids.js';

const NOW = Date.UTC(2026, 10, 20, 9, 30);
const LIMITS = { propertiesMax: 10, userPropertiesMax: 10, keyLengthMax: 256, valueBytesMax: 100 };
const PROJECT = '0190a000-0000-7000-8000-000000000001';
const ADDRESS = '203.0.113.77';

/** A geography that differs between addresses of one network without containing them. */
const townOf = (address: string) => `Town ${address.split('.').at(-1)}`;

const credential = (fields: Partial<Credential> = {}): Credential => ({
  kind: 'public',
  id: 'pk_01234',
  projectId: toProjectId(PROJECT),
  organizationId: toOrganizationId(PROJECT),
  scopes: new Set(['track']),
  ipPolicy: 'anonymize',
  timezone: 'UTC',
  ...fields,
});

function accept(body: unknown, options: { credential?: Credential; headers?: Record<string, string> } = {}) {
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  return acceptRequest(
    {
      bytes,
      body: parseTrackBody(bytes),
      credential: options.credential ?? credential(),
      address: ADDRESS,
      headers: options.headers ?? {},
      proxyHeaders: {},
      id: 'request-1',
      now: NOW,
    },
    { limits: LIMITS, findGeography: (address) => (address === undefined ? {} : { city: townOf(address) }) },
  );
}

/** The events that a worker replays from the encoded envelope. */
function replay({ envelope }: ReturnType<typeof accept>): AcceptedEvent[] {
  const events: AcceptedEvent[] = [];
  for (const decoded of decodeEnvelopes(encodeEnvelopes([envelope])))
    replayEvents(decoded, (event) => events.push(event));
  return events;
}

describe('acceptRequest', () => {
  test('skips invalid events, counts their reasons, and keeps the order of the others', () => {
    const accepted = accept({ events: [{ event_type: 'a' }, {}, 5, { event_type: 'b' }] });
    expect(accepted.envelope.header.n).toBe(2);
    expect(accepted.rejected).toEqual([
      { reason: 'event_type_missing', event: {} },
      { reason: 'not_an_object', event: 5 },
    ]);
    expect(replay(accepted).map((event) => event.eventType)).toEqual(['a', 'b']);
  });

  test('makes insert ids for events without one, equal at every replay', () => {
    const accepted = accept({
      events: [{ event_type: 'a' }, { event_type: 'b', insert_id: 'mine' }, { event_type: 'c' }],
    });
    const ids = replay(accepted).map((event) => event.insertId);
    expect(ids).toEqual([
      expect.stringMatching(/^evt_[0-9A-Za-z]{16}$/),
      'mine',
      expect.stringMatching(/^evt_[0-9A-Za-z]{16}$/),
    ]);
    expect(ids[0]).not.toBe(ids[2]);
    expect(replay(accepted)).toEqual(replay(accepted));
  });

  test('uses the time of acceptance for an event without a valid time', () => {
    const accepted = accept({
      events: [{ event_type: 'a' }, { event_type: 'b', time: 'x' }, { event_type: 'c', time: NOW - 5 }],
    });
    expect(replay(accepted).map((event) => event.time)).toEqual([NOW, NOW, NOW - 5]);
  });

  test('lists the events that need a first-seen time: with an insert id and without a valid time', () => {
    const accepted = accept({
      events: [
        { event_type: 'a', insert_id: 'one' },
        { event_type: 'a', insert_id: 'two', time: NOW },
        { event_type: 'a' },
        { event_type: 'a', insert_id: 'three', time: 'soon' },
      ],
    });
    expect([...accepted.eventsWithoutTime]).toEqual([
      [0, 'one'],
      [3, 'three'],
    ]);
  });

  test('uses the first-seen time of the header at replay', () => {
    const { envelope } = accept({ events: [{ event_type: 'a' }, { event_type: 'a', insert_id: 'one' }] });
    const events: AcceptedEvent[] = [];
    replayEvents({ ...envelope, header: { ...envelope.header, first: { 1: NOW - 60_000 } } }, (event) =>
      events.push(event),
    );
    expect(events.map((event) => event.time)).toEqual([NOW, NOW - 60_000]);
  });

  test('knows the months of the accepted events before they are replayed', () => {
    const times = ['2026-11-01T00:00:00.000Z', 'x', '2026-10-31T23:59:59.999Z', '2026-11-19T00:00:00.000Z'];
    const { envelope } = accept({
      events: [{}, 5, { time: '2001-01-01' }, ...times.map((time) => ({ event_type: 'a', time }))],
    });
    const monthsWith = (first: Record<string, number>) =>
      monthsOf([parseEnvelope({ ...envelope, header: { ...envelope.header, first } })]);
    expect([monthsWith({}).size, monthsWith({}).areFew]).toEqual([2, true]);
    expect(monthsWith({ 4: Date.UTC(2020, 0) }).size).toBe(3);
    const { envelope: other } = accept({ event_type: 'a', time: '2019-05-05' });
    const both = [parseEnvelope(envelope), parseEnvelope(other)];
    expect(monthsOf(both).areFew).toBe(true);
    expect(monthsOf([...both, parseEnvelope(accept({ event_type: 'a', time: '2018-05-05' }).envelope)]).areFew).toBe(
      false,
    );
  });

  test.each([
    ['anonymize', '203.0.113.0'],
    ['full', ADDRESS],
    ['drop', ''],
  ] as const)('under %s the envelope contains the address "%s" and the city of the full address', (ipPolicy, kept) => {
    const accepted = accept({ event_type: 'a' }, { credential: credential({ ipPolicy }) });
    const [event] = replay(accepted);
    expect(event).toMatchObject({ ip: kept, geography: { city: townOf(ADDRESS) } });
  });

  test('never writes the raw address to the envelope', () => {
    expect(encodeEnvelopes([accept({ event_type: 'a' }).envelope]).includes(ADDRESS)).toBe(false);
  });

  test('takes the origin from the event, else from the batch, else "unknown"', () => {
    const origins = (body: unknown) => replay(accept(body)).map((event) => event.origin);
    expect(origins({ event_type: 'a' })).toEqual(['unknown']);
    expect(
      origins({ origin: 'server', events: [{ event_type: 'a' }, { event_type: 'a', clientOriginated: true }] }),
    ).toEqual(['server', 'client']);
    expect(origins({ clientOriginated: true, events: [{ event_type: 'a' }] })).toEqual(['client']);
  });
});

describe('events that override client fields', () => {
  const spokenFor = { event_type: 'a', ip: '198.51.100.9', user_agent: 'curl/8.5.0' };
  const secret = { credential: credential({ kind: 'secret' }) };

  test('are accepted with a secret key, and IP policy and geography use their address', () => {
    const accepted = accept({ events: [spokenFor, { event_type: 'b' }] }, secret);
    expect(replay(accepted)).toMatchObject([
      { ip: '198.51.100.0', userAgent: 'curl/8.5.0', geography: { city: townOf('198.51.100.9') } },
      { ip: '203.0.113.0', userAgent: '', geography: { city: townOf(ADDRESS) } },
    ]);
    expect(encodeEnvelopes([accepted.envelope]).includes('198.51.100.9')).toBe(false);
  });

  test('are written without the events that are skipped', () => {
    const events = [
      { user_id: 'skipped', ip: '198.51.100.9' },
      { event_type: 'a', ip: '198.51.100.9' },
    ];
    const accepted = accept({ events }, { credential: credential({ kind: 'secret' }) });
    expect(accepted.envelope.header).toMatchObject({ n: 1, skip: [0], own: true });
    expect(JSON.parse(accepted.envelope.body.toString()).events).toEqual([
      null,
      expect.objectContaining({ event_type: 'a', ip: '198.51.100.0' }),
    ]);
  });

  test('are ignored with a public key, as unknown fields', () => {
    const said = { ...spokenFor, geo: { city: 'Atlantis' } };
    const [event] = replay(accept(said, { headers: { 'user-agent': 'Browser/1' } }));
    expect(event).toMatchObject({
      ip: '203.0.113.0',
      userAgent: 'Browser/1',
      geography: { city: townOf(ADDRESS) },
    });
  });

  test.each([
    [
      'the geography of the event wins over that of its address',
      { ip: '198.51.100.9', geo: { city: 'Atlantis' } },
      'Atlantis',
    ],
    ['geography without an address', { geo: { city: 'Atlantis' } }, 'Atlantis'],
    ['a null address gives no geography of the sender', { ip: null }, undefined],
    ['geography that is said to be unknown', { ip: '198.51.100.9', geo: {} }, undefined],
  ])('%s', (_, said, city) => {
    const [event] = replay(accept({ event_type: 'a', ...said }, secret));
    expect(event?.geography.city).toBe(city);
    if ('ip' in said) expect(event?.ip).toBe(said.ip === null ? '' : '198.51.100.0');
  });

  test('may set the user agent to none', () => {
    const options = { ...secret, headers: { 'user-agent': 'Importer/1' } };
    const agents = [{ user_agent: null }, {}].map((said) => replay(accept({ event_type: 'a', ...said }, options))[0]);
    expect(agents.map((event) => event?.userAgent)).toEqual(['', 'Importer/1']);
  });

  test('keep only valid fields of a geography', () => {
    const geo = { country: 'DE', city: 7, region: '', timezone: ['x'], latitude: 91, longitude: 13.4, planet: 'Earth' };
    const [event] = replay(accept({ event_type: 'a', geo }, secret));
    expect(event?.geography).toEqual({ country: 'DE', city: '7', longitude: 13.4 });
  });

  test.each([
    ['database', 'database'],
    ['header', 'header'],
    ['guess', undefined],
    [undefined, undefined],
  ])('keep the source of an exported geography: %s', (source, kept) => {
    const [event] = replay(accept({ event_type: 'a', geo: { country: 'DE', source } }, secret));
    expect(event?.geography.source).toBe(kept);
  });

  test('leave invalid events skipped when the body is rewritten', () => {
    const accepted = accept({ events: [5, spokenFor, {}] }, secret);
    expect(replay(accepted)).toHaveLength(1);
  });

  test('may have deep unknown fields, and numbers above a double are stored as without overrides', () => {
    const deep = '['.repeat(100_000) + ']'.repeat(100_000);
    const fields = `"event_type":"a","insert_id":"1","event_properties":{"n":1e999,"l":[1e999],"__proto__":"x"}`;
    const [plain] = replay(accept(`{${fields}}`, secret));
    const [spoken] = replay(accept(`{${fields},"ip":null,"junk":${deep},"geo":${deep},"time":${deep}}`, secret));
    expect(Object.entries(spoken?.eventProperties ?? {})).toEqual([
      ['n', 'Infinity'],
      ['l', [null]],
      ['__proto__', 'x'],
    ]);
    expect(JSON.stringify(spoken?.eventProperties.l)).toBe(JSON.stringify(plain?.eventProperties.l));
  });

  test('keep the origin of the batch', () => {
    const accepted = accept({ origin: 'server', events: [spokenFor] }, secret);
    expect(replay(accepted)).toMatchObject([{ origin: 'server' }]);
  });
});

test('decodeEnvelopes() reads the envelopes of a group commit and throws on a truncated one', () => {
  const envelopes = [accept({ event_type: 'a' }).envelope, accept({ event_type: 'ä' }).envelope];
  const bytes = encodeEnvelopes(envelopes);
  expect(decodeEnvelopes(bytes)).toEqual(envelopes);
  expect(() => decodeEnvelopes(bytes.subarray(0, -1))).toThrow('an envelope ends at byte');
});
