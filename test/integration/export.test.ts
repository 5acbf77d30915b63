// GET /api/gdpr/users/{userID}/export: who may ask, and that an export is complete, in order, and
// never truncated silently.
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { killQuery } from '../../src/platform/clickhouse/kill-query.js';
import { FairPlaces } from '../../src/platform/flow/fair-places.js';
import { createLogger } from '../../src/platform/log.js';
import { exportEvents } from '../../src/privacy/export-store.js';
import { anyText } from '../support/any-text.js';
import {
  addressOf,
  ask,
  auditOf,
  databases,
  type ExportedEvent,
  exportOf,
  fill,
  MEBIBYTE,
  mapDevice,
  processes,
  project,
  startExports,
  store,
  untilStored,
} from '../support/exports.js';
import { createTestProject, track } from '../support/track.js';

startExports();

describe('access to exports', () => {
  test.each([
    ['no key', () => undefined, 401],
    ['a public key', () => project.publicKey, 403],
    ['an unknown key', () => `sk_${'x'.repeat(32)}`, 401],
  ])('answers a request with %s', async (_, keyOf, status) => {
    const response = await fetch(addressOf('u'), {
      headers: keyOf() === undefined ? {} : { 'X-API-Key': keyOf() ?? '' },
    });
    expect(response.status).toBe(status);
    expect(Object.keys((await response.json()) as object)).toEqual(['error']);
  });

  test.each(['\0', 'x'.repeat(513)])('answers 400 to an invalid user id (%#)', async (userId) => {
    expect((await ask(userId)).status).toBe(400);
  });

  test('answers an empty stream for an unknown person, and records it in the audit trail', async () => {
    const own = await createTestProject(databases);
    const response = await ask('nobody', own.secretKey);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8');
    expect(await response.text()).toBe('');
    const [requested, ended, ...more] = await auditOf(own.id);
    const actor = { kind: 'secret', id: own.secretKey.slice(0, 8) };
    const details = { export: expect.any(String) };
    expect(requested).toMatchObject({
      ...{ action: 'export.requested', outcome: 'accepted' },
      subject: 'nobody',
      actor,
      details,
    });
    expect(ended).toMatchObject({ action: 'export.ended', outcome: 'completed', subject: null, actor });
    expect(ended?.details).toEqual({ ...(requested?.details as object), events: 0 });
    expect(more).toEqual([]);
  });
});

describe('content of an export', () => {
  test("contains exactly the events of the person's user id and devices", async () => {
    const own = await createTestProject(databases);
    await mapDevice(own.id, 'phone', 'ada');
    await mapDevice(own.id, 'passed-on', 'ada');
    await mapDevice(own.id, 'passed-on', 'bob');
    await mapDevice(own.id, 'eve', 'bob');
    const events = {
      known: { user_id: 'ada' },
      'known on the device of another': { user_id: 'ada', device_id: 'passed-on' },
      'anonymous on the phone': { device_id: 'phone' },
      'anonymous on a device of that name': { device_id: 'ada' },
      'another on the phone': { user_id: 'bob', device_id: 'phone' },
      'anonymous on what was passed on': { device_id: 'passed-on' },
      'anonymous on a device that is called eve': { device_id: 'eve' },
      'of nobody': {},
    };
    await track(processes.url, own.publicKey, {
      events: Object.entries(events).map(([type, ids]) => ({ event_type: type, ...ids })),
    });
    await untilStored(own.id, Object.keys(events).length);
    const typesOf = async (userId: string) => (await exportOf(userId, own.secretKey)).map((event) => event.event_type);
    expect((await typesOf('ada')).sort()).toEqual([
      'anonymous on a device of that name',
      'anonymous on the phone',
      'known',
      'known on the device of another',
    ]);
    expect(await typesOf('eve')).toEqual([]);
    expect(await typesOf('phone')).toEqual([]);
  });

  test('contains every field, with null for absent ones', async () => {
    const own = await createTestProject(databases, { ipPolicy: 'full' });
    const event = { event_type: 'full', user_id: 'u', device_id: 'd', session_id: 's', insert_id: 'i', library: 'l/1' };
    await track(
      processes.url,
      own.publicKey,
      { ...event, time: '2026-11-01T10:00:00.5+02:00', clientOriginated: true, event_properties: { a: 1 } },
      { 'X-Forwarded-For': '203.0.113.77', 'X-Country': 'DE', 'X-City': 'Bad "X"/Y', 'User-Agent': 'curl/8.5.0' },
    );
    await track(processes.url, own.secretKey, {
      ...{ event_type: 'bare', user_id: 'u', time: '2026-11-02', insert_id: 'j', ip: null, user_agent: null },
    });
    await untilStored(own.id, 2);
    expect(await exportOf('u', own.secretKey)).toEqual([
      {
        ...event,
        time: '2026-11-01T08:00:00.500Z',
        event_properties: { a: 1 },
        user_properties: {},
        origin: 'client',
        ip: '203.0.113.77',
        user_agent: 'curl/8.5.0',
        agent: { browser: 'curl', browser_version: '8.5.0', device_type: 'bot' },
        geo: { country: 'DE', city: 'Bad "X"/Y', continent: 'EU', source: 'header' },
      },
      {
        ...{ event_type: 'bare', time: '2026-11-02T00:00:00.000Z', insert_id: 'j', user_id: 'u', device_id: null },
        ...{ session_id: null, event_properties: {}, user_properties: {}, library: null, origin: 'unknown' },
        ...{ ip: null, user_agent: null, agent: { device_type: 'desktop' }, geo: {} },
      },
    ]);
  });

  test('keeps the type of every property value', async () => {
    const own = await createTestProject(databases);
    const text = anyText(40);
    const numericText = fc.oneof(fc.integer(), fc.double({ noNaN: true })).map(String);
    const value = fc.oneof(
      text,
      numericText,
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      fc.json(),
    );
    const key = fc
      .oneof(text, fc.constantFrom('__proto__', 'constructor', 'toString'))
      .filter((name) => name !== '' && !name.includes('\0'));
    const properties = fc.dictionary(key, value, { maxKeys: 12 });
    const sent = fc.sample(fc.tuple(properties, properties), { numRuns: 300 });
    await track(processes.url, own.publicKey, {
      events: sent.map(([event_properties, user_properties], index) => ({
        ...{ event_type: 'typed', user_id: 'typed', insert_id: String(index), event_properties, user_properties },
      })),
    });
    await untilStored(own.id, sent.length);
    const exported = await exportOf('typed', own.secretKey);
    expect(exported).toHaveLength(sent.length);
    // Values are unchanged except NUL, which is replaced in texts, and the sign of zero, which JSON
    // drops.
    const kept = (item: unknown) =>
      typeof item === 'string' ? item.replaceAll('\0', '') : Object.is(item, -0) ? 0 : item;
    const entriesOf = (held: unknown) =>
      Object.entries(held as object)
        .map(([name, item]) => [name, kept(item)] as const)
        .sort(([a], [b]) => (a < b ? -1 : 1));
    for (const event of exported) {
      const [eventProperties, userProperties] = sent[Number(event.insert_id)] ?? [];
      expect(entriesOf(event.event_properties)).toEqual(entriesOf(eventProperties));
      expect(entriesOf(event.user_properties)).toEqual(entriesOf(userProperties));
    }
  });

  test('contains 60,000 events once and in order for three concurrent clients, with full hours and milliseconds', async () => {
    const own = await createTestProject(databases);
    const start = Date.UTC(2026, 9, 1);
    // Nine tenths within one hour, which is more than a page, a tenth within one millisecond, the
    // rest over fifty days, every second of them at the start of an hour.
    const timeOf = (n: number): number => {
      if (n % 10 !== 5) return n % 10 === 0 ? start : start + n * 59;
      const after = (n * 7_919_000) % (50 * 86_400_000);
      return start + (n % 20 === 5 ? after - (after % 3_600_000) : after);
    };
    const sent = Array.from({ length: 60_000 }, (_, n) => ({
      ...{ event_type: `type-${n % 3}`, time: new Date(timeOf(n)).toISOString(), insert_id: `i${n}`, user_id: 'busy' },
    }));
    for (let at = 0; at < sent.length; at += 2000) {
      const answer = await track(processes.url, own.publicKey, { events: sent.slice(at, at + 2000) });
      expect(answer.body).toEqual({ accepted: 2000 });
    }
    await untilStored(own.id, sent.length);
    const orderOf = (events: readonly { time: string; insert_id: string; event_type: string }[]) =>
      events.map((event) => `${event.time} ${event.insert_id} ${event.event_type}`);
    const expected = orderOf(sent).sort();
    const exports = await Promise.all(Array.from({ length: 3 }, () => exportOf('busy', own.secretKey)));
    for (const events of exports) expect(orderOf(events)).toEqual(expected);
  }, 360_000);

  test('continues after the last line when the query of a page breaks off', async () => {
    const userId = `broken-off-${randomUUID()}`;
    await fill(userId, 30_000);
    const asked: string[] = [];
    const clickhouse = new Proxy(store.client, {
      get: (client, name) => {
        if (name !== 'query') return Reflect.get(client, name);
        return (options: Parameters<typeof client.query>[0]) => {
          asked.push(options.query_id ?? '');
          return client.query(options);
        };
      },
    });
    const source = {
      clickhouse,
      memoryBytes: 1024 * MEBIBYTE,
      places: new FairPlaces(1),
      log: createLogger({ process: 'test', level: 'silent' }),
    };
    const person = { kind: 'person', projectId: project.id, userId } as const;
    let text = '';
    let kills = 0;
    for await (const lines of exportEvents(source, person, new AbortController().signal)) {
      text += lines.toString();
      if (kills >= 3) continue;
      kills += 1;
      // Does not wait for its end: a query whose rows are not read ends by its send timeout of 30
      // s.
      await killQuery({ clickhouse: store.client, log: source.log }, asked.at(-1) ?? '');
    }
    const ids = text
      .split('\n')
      .slice(0, -1)
      .map((line) => (JSON.parse(line) as ExportedEvent).insert_id);
    expect(ids).toEqual(Array.from({ length: 30_000 }, (_, n) => String(n)));
    // Devices, hours, and more pages than the three that it would have taken.
    expect(asked.length).toBeGreaterThan(2 + 3);
  }, 120_000);
});
