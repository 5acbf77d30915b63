// POST /track, from the request to the stored row.
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { NewProject } from '../../src/accounts/store.js';
import { eventually } from '../support/eventually.js';
import { createTestDatabases, type ProcessGroup, startProcesses, type TestDatabases } from '../support/stack.js';
import { createTestProject, type EventStore, openEventStore, track } from '../support/track.js';

let databases: TestDatabases;
let processes: ProcessGroup;
let store: EventStore;
let project: NewProject;

beforeAll(async () => {
  databases = await createTestDatabases({ MAX_BATCH_SIZE: '5', MAX_REQUEST_BYTES: '10000', TRUST_PROXY: 'loopback' });
  store = openEventStore(databases);
  project = await createTestProject(databases);
  processes = await startProcesses(databases.env, ['worker', 'web']);
});

afterAll(async () => {
  await processes?.stop();
  await store?.client.close();
  await databases?.close();
});

const send = (body: unknown, headers?: Record<string, string>) =>
  track(processes.url, project.publicKey, body, headers);

/** The one stored event of a type, once it is there. */
async function stored<T>(eventType: string, columns: string): Promise<T> {
  return eventually(async () => {
    const rows = await store.rows<T & { event_type: string }>(project.id, `event_type, ${columns}`);
    const row = rows.find((candidate) => candidate.event_type === eventType);
    if (row === undefined) throw new Error(`no event ${eventType} is stored`);
    return row;
  });
}

describe('POST /track accepts', () => {
  test('one event', async () => {
    const answer = await send({
      event_type: 'single',
      user_id: 'u1',
      event_properties: { n: 5, text: 'ä', yes: true, no: null },
    });
    expect(answer).toMatchObject({ status: 200, body: { accepted: 1 } });
    expect(await stored('single', 'user_id, ep_num, ep_str, ep_bool, ep_null, insert_id')).toMatchObject({
      user_id: 'u1',
      ep_num: { n: 5 },
      ep_str: { text: 'ä' },
      ep_bool: { yes: true },
      ep_null: ['no'],
      insert_id: expect.stringMatching(/^evt_[0-9A-Za-z]{16}$/),
    });
  });

  test('a body that begins with a byte-order mark', async () => {
    expect(await send('\uFEFF{"event_type":"marked"}')).toMatchObject({ status: 200, body: { accepted: 1 } });
    expect(await stored('marked', 'library')).toMatchObject({ event_type: 'marked' });
  });

  test('one event of a secret key with wait=1, and answers when it is counted', async () => {
    const sent = await fetch(`${processes.url}/track?wait=1`, {
      method: 'POST',
      headers: { 'X-API-Key': project.secretKey },
      body: JSON.stringify({ event_type: 'awaited' }),
    });
    expect(await sent.json()).toEqual({ accepted: 1, counted: true });
    expect(await store.count(project.id, "event_type = 'awaited'")).toBe(1);
  });

  test('numeric text, which is stored as text and as number', async () => {
    const texts = { price: '12.50', code: '007', word: 'inf', blank: ' 5', exponent: '1e3', huge: '1e999' };
    await send({ event_type: 'numeric-text', event_properties: { ...texts, real: 3 } });
    const row = await stored<{ ep_str: object; ep_num: object }>('numeric-text', 'ep_str, ep_num');
    expect(row.ep_str).toEqual(texts);
    expect(row.ep_num).toEqual({ price: 12.5, code: 7, exponent: 1000, real: 3 });
  });

  test('negative zero, which is stored as 0: its text form is the group', async () => {
    await send('{"event_type":"negative-zero","event_properties":{"real":-0.0,"text":"-0"}}');
    const row = await stored('negative-zero', "toString(ep_num['real']) AS real, toString(ep_num['text']) AS text");
    expect(row).toMatchObject({ real: '0', text: '0' });
  });

  test('the valid events of a batch', async () => {
    const answer = await send({
      events: [{ event_type: 'batch-1' }, { event_type: '' }, 7, { event_type: 'batch-2' }],
    });
    expect(answer.body).toEqual({ accepted: 2 });
    await stored('batch-1', 'time');
    await stored('batch-2', 'time');
  });

  test('a batch of invalid events with 200 and none accepted', async () => {
    expect(await send({ events: [{}, { event_type: 'x', user_id: true }] })).toMatchObject({
      status: 200,
      body: { accepted: 0 },
    });
    expect(await send({ events: [] })).toMatchObject({ status: 200, body: { accepted: 0 } });
    expect(await send({ event_type: '' })).toMatchObject({ status: 200, body: { accepted: 0 } });
  });

  test.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
  ])('a body compressed with %s', async (encoding, compress) => {
    const type = `compressed-${encoding}`;
    const body = compress(Buffer.from(JSON.stringify({ event_type: type })));
    expect(await send(body, { 'Content-Encoding': encoding })).toMatchObject({ status: 200, body: { accepted: 1 } });
    await stored(type, 'time');
  });

  test('a beacon: text/plain with the public key in the URL', async () => {
    const response = await fetch(`${processes.url}/track?key=${project.publicKey}`, {
      method: 'POST',
      headers: { 'Content-Type': 'text/plain;charset=UTF-8' },
      body: JSON.stringify({ event_type: 'beacon', clientOriginated: true }),
    });
    expect(await response.json()).toEqual({ accepted: 1 });
    expect(await stored('beacon', 'ingest_origin')).toMatchObject({ ingest_origin: 'client' });
  });

  test('a secret key', async () => {
    expect(await track(processes.url, project.secretKey, { event_type: 'secret' })).toMatchObject({ status: 200 });
  });

  test('a page of another origin (CORS)', async () => {
    const preflight = await fetch(`${processes.url}/track`, {
      method: 'OPTIONS',
      headers: { Origin: 'https://shop.example' },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-origin')).toBe('*');
    expect(preflight.headers.get('access-control-allow-headers')).toContain('X-API-Key');
    expect(
      (await send({ event_type: 'cross' }, { Origin: 'https://shop.example' })).headers.get(
        'access-control-allow-origin',
      ),
    ).toBe('*');
  });

  test('property keys such as __proto__', async () => {
    await send('{"event_type":"proto","event_properties":{"__proto__":"x","constructor":1,"toString":true}}');
    expect(await stored('proto', 'ep_str, ep_num, ep_bool')).toMatchObject({
      ep_num: { constructor: 1 },
      ep_bool: { toString: true },
    });
    expect(await store.count(project.id, "ep_str['__proto__'] = 'x'")).toBe(1);
  });
});

describe('POST /track refuses', () => {
  test.each([
    ['no key', undefined, 401],
    ['a malformed key', 'nonsense', 401],
    ['an unknown key', `pk_${'x'.repeat(32)}`, 401],
  ])('%s', async (_, key, status) => {
    const answer = await track(processes.url, key, { event_type: 'a' });
    expect(answer.status).toBe(status);
    expect(answer.body.error).toMatch(/key/);
  });

  test.each([
    ['wait=1 of a public key', () => project.publicKey, '1', 403, 'wait=1 needs a secret key or a token'],
    ['another value of wait', () => project.secretKey, 'true', 400, 'wait can only be 1'],
  ])('%s', async (_, key, wait, status, error) => {
    const response = await fetch(`${processes.url}/track?wait=${wait}`, {
      method: 'POST',
      headers: { 'X-API-Key': key() },
      body: JSON.stringify({ event_type: 'refused' }),
    });
    expect([response.status, await response.json()]).toEqual([status, { error }]);
  });

  test('a secret key in the URL', async () => {
    const answer = await fetch(`${processes.url}/track?key=${project.secretKey}`, { method: 'POST', body: '{}' });
    expect(answer.status).toBe(401);
  });

  test.each([
    ['invalid JSON', '{"event_type":', 400],
    ['an empty body', '', 400],
    ['neither an event nor a batch', '{"name":"a"}', 400],
    ['an array', '[{"event_type":"a"}]', 400],
    ['a batch that is not an array', '{"events":5}', 400],
    [
      'a batch of too many events',
      JSON.stringify({ events: Array.from({ length: 6 }, () => ({ event_type: 'a' })) }),
      400,
    ],
    ['a large body', JSON.stringify({ event_type: 'a', library: 'x'.repeat(10_000) }), 413],
  ])('%s', async (_, body, status) => {
    const answer = await send(body);
    expect(answer.status).toBe(status);
    expect(Object.keys(answer.body)).toEqual(['error']);
  });

  test('a batch that is too large with its size and the limit', async () => {
    const answer = await send({ events: Array.from({ length: 6 }, () => ({ event_type: 'a' })) });
    expect(answer.body.error).toBe('the batch has 6 events; the limit is 5');
  });

  test('a compression bomb', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000, 32));
    expect(await send(bomb.subarray(0, 9_000), { 'Content-Encoding': 'gzip' })).toMatchObject({ status: 413 });
  });

  test('a body that does not match its Content-Encoding', async () => {
    expect(await send('plain', { 'Content-Encoding': 'gzip' })).toMatchObject({ status: 400 });
    expect(await send('plain', { 'Content-Encoding': 'zstd' })).toMatchObject({ status: 400 });
  });

  test('a body that is not valid UTF-8, with a declared charset or without', async () => {
    const inLatin1 = { 'Content-Type': 'application/json; charset=ISO-8859-1' };
    const body = Buffer.from(JSON.stringify({ event_type: 'a', user_id: 'Zoë' }), 'latin1');
    const refused = { status: 400, body: { error: 'the request body is not valid UTF-8' } };
    expect(await send(body, inLatin1)).toMatchObject(refused);
    expect(await send(body)).toMatchObject(refused);
    expect(await send(gzipSync(body), { ...inLatin1, 'Content-Encoding': 'gzip' })).toMatchObject(refused);
    expect(await send({ event_type: 'a', user_id: 'Zoe' }, inLatin1)).toMatchObject({ status: 200 });
  });

  test('an unknown route', async () => {
    const response = await fetch(`${processes.url}/nowhere`);
    expect(response.status).toBe(404);
    expect(await response.json()).toEqual({ error: 'there is no such route' });
  });
});

describe('metrics of POST /track', () => {
  test('count skipped events by reason', async () => {
    await send({ events: [{ event_type: 'x'.repeat(257) }] });
    const metrics = await (await fetch(`${processes.url}/metrics`)).text();
    expect(metrics).toMatch(/ingest_events_skipped_total\{reason="event_type_too_long"\} [1-9]/);
  });
});

describe('time of an event', () => {
  test("is the client's, or the time of acceptance without one", async () => {
    await send({ events: [{ event_type: 'time-own', time: '2026-11-01T10:00:00+02:00' }] });
    expect(await stored('time-own', 'toString(time) AS time')).toMatchObject({ time: '2026-11-01 08:00:00.000' });

    const before = Date.now();
    await send({ event_type: 'time-server', time: '1970-01-01T00:00:00Z' });
    const { ms } = await stored<{ ms: string }>('time-server', 'toUnixTimestamp64Milli(time) AS ms');
    expect(Number(ms)).toBeGreaterThanOrEqual(before);
    expect(Number(ms)).toBeLessThanOrEqual(Date.now());
  });

  test('is the first-seen time of an insert id without a time', async () => {
    for (let sent = 0; sent < 3; sent += 1) await send({ event_type: 'time-first', insert_id: 'retry-1' });
    await send({ event_type: 'time-first-done' });
    await stored('time-first-done', 'time');
    expect(await store.count(project.id, "event_type = 'time-first'")).toBe(1);
  });
});

describe('address of the client', () => {
  const from = { 'X-Forwarded-For': '203.0.113.77' };

  test.each([
    ['anonymize', '203.0.113.0'],
    ['full', '203.0.113.77'],
    ['drop', ''],
  ])('is stored under %s as "%s"', async (ipPolicy, kept) => {
    const own = await createTestProject(databases, { ipPolicy });
    await track(processes.url, own.publicKey, { event_type: 'a' }, from);
    const rows = await eventually(async () => {
      const found = await store.rows<{ ip: string }>(own.id, 'ip');
      if (found.length === 0) throw new Error('not stored yet');
      return found;
    });
    expect(rows).toEqual([{ ip: kept }]);
  });

  test('may have a port, as some proxies write it', async () => {
    const own = await createTestProject(databases, { ipPolicy: 'full' });
    const forwarded = [
      '203.0.113.77:4711',
      '[2001:db8::7]:443',
      '203.0.113.78:1, 127.0.0.1:2',
      '2001:db8::9, 127.0.0.1:2',
      'unknown:3',
    ];
    for (const address of forwarded) {
      await track(processes.url, own.publicKey, { event_type: address }, { 'X-Forwarded-For': address });
    }
    await eventually(async () => expect(await store.count(own.id)).toBe(forwarded.length));
    const rows = await store.rows<{ event_type: string; ip: string }>(own.id, 'event_type, ip');
    expect(Object.fromEntries(rows.map(({ event_type: address, ip }) => [address, ip]))).toEqual({
      '203.0.113.77:4711': '203.0.113.77',
      '[2001:db8::7]:443': '2001:db8::7',
      '203.0.113.78:1, 127.0.0.1:2': '203.0.113.78',
      '2001:db8::9, 127.0.0.1:2': '2001:db8::9',
      'unknown:3': '',
    });
  });

  test('can be set by a secret key only', async () => {
    const event = { event_type: 'spoken', ip: '198.51.100.9', user_agent: 'curl/8.5.0' };
    const own = await createTestProject(databases, { ipPolicy: 'full' });
    const agent = { browser: 'Firefox', browser_version: '119', os: 'Android', os_version: '13' };
    await track(processes.url, own.secretKey, event, from);
    await track(processes.url, own.secretKey, { event_type: 'in_parts', agent }, from);
    await track(processes.url, own.publicKey, { ...event, agent, event_type: 'ignored' }, from);
    await eventually(async () => expect(await store.count(own.id)).toBe(3));
    const parts = await store.rows<object>(
      own.id,
      'event_type, ua, browser, browser_version, os, platform, device_type',
    );
    expect(parts).toContainEqual({
      ...{ event_type: 'in_parts', ua: '', browser: 'Firefox', browser_version: '119' },
      ...{ os: 'Android', platform: 'android', device_type: 'mobile' },
    });
    const rows = await store.rows<object>(own.id, 'event_type, ip, browser');
    expect(rows).toContainEqual({ event_type: 'spoken', ip: '198.51.100.9', browser: 'curl' });
    expect(rows).toContainEqual({ event_type: 'ignored', ip: '203.0.113.77', browser: 'node' });
  });
});
