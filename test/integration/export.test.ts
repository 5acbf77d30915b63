// GET /api/gdpr/users/{userID}/export: complete, in order, in constant memory, and never truncated
// silently.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { NewProject } from '../../src/accounts/store.js';
import { killQuery } from '../../src/platform/clickhouse/kill-query.js';
import { FairPlaces } from '../../src/platform/flow/fair-places.js';
import { createLogger } from '../../src/platform/log.js';
import { createPostgres, type Postgres } from '../../src/platform/postgres/client.js';
import { createRedis, type Redis } from '../../src/platform/redis/client.js';
import { createExportQueue, type ExportQueue } from '../../src/privacy/export-queue.js';
import { exportEvents } from '../../src/privacy/export-store.js';
import { eventually } from '../support/eventually.js';
import { createTestDatabases, type ProcessGroup, startProcesses, type TestDatabases } from '../support/stack.js';
import { createTestProject, type EventStore, openEventStore, track } from '../support/track.js';

const MEBIBYTE = 1024 * 1024;
const EXPORTS_MAX = 3;

let databases: TestDatabases;
let processes: ProcessGroup;
let store: EventStore;
let postgres: Postgres;
let redis: Redis;
let queue: ExportQueue;
let project: NewProject;

beforeAll(async () => {
  databases = await createTestDatabases({
    EXPORTS_OPEN_MAX: String(4 * EXPORTS_MAX),
    TRUST_PROXY: 'loopback',
    GEOIP_HEADERS: 'country=x-country,city=x-city',
  });
  store = openEventStore(databases);
  postgres = createPostgres(databases.config);
  redis = createRedis(databases.config);
  queue = createExportQueue(redis);
  project = await createTestProject(databases, { ipPolicy: 'full' });
  processes = await startProcesses(databases.env);
});

afterAll(async () => {
  await processes?.stop();
  await queue?.close();
  redis?.disconnect();
  await postgres?.destroy();
  await store?.client.close();
  await databases?.close();
});

type ExportedEvent = Record<string, unknown> & { event_type: string; time: string; insert_id: string };

const addressOf = (userId: string): string => `${processes.url}/api/gdpr/users/${encodeURIComponent(userId)}/export`;

const ask = (userId: string, key: string | undefined = project.secretKey): Promise<Response> =>
  fetch(addressOf(userId), { headers: { ...(key !== undefined && { 'X-API-Key': key }), connection: 'close' } });

async function exportOf(userId: string, key = project.secretKey): Promise<ExportedEvent[]> {
  const response = await ask(userId, key);
  expect(response.status).toBe(200);
  const text = await response.text();
  expect(text === '' || text.endsWith('\n')).toBe(true);
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as ExportedEvent);
}

/** Reads only when told to. */
function openSlowly(userId: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const asked = request(addressOf(userId), { headers: { 'X-API-Key': project.secretKey }, agent: false });
    asked.on('response', (response: IncomingMessage) => resolve(response.pause()));
    asked.on('error', reject);
    asked.end();
  });
}

/** Reads so many bytes, and stops. */
async function take(response: IncomingMessage, bytes: number): Promise<void> {
  for (let taken = 0; taken < bytes; ) {
    const chunk: Buffer | null = response.read();
    if (chunk === null) await once(response, 'readable');
    else taken += chunk.length;
  }
}

async function readLines(response: IncomingMessage): Promise<number> {
  let lines = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) lines += 1;
  }
  return lines;
}

async function untilStored(projectId: string, events: number): Promise<void> {
  await eventually(async () => expect(await store.count(projectId)).toBe(events), 60_000);
}

/** Straight into the table: more events than a test has time to send. Two kilobytes each. */
async function fill(userId: string, events: number): Promise<void> {
  await store.client.command({
    query: `INSERT INTO events (project_id, event_type, time, insert_id, user_id, ingest_origin, ep_str)
      SELECT {project:UUID}, 'filled', toDateTime64('2026-10-01', 3, 'UTC') + number, toString(number), {user:String},
        'server', map('padding', repeat('x', 2000)) FROM numbers({events:UInt32})`,
    query_params: { project: project.id, user: userId, events },
  });
}

/** As an identify call does, once its copy has arrived. */
const mapDevice = (projectId: string, deviceId: string, userId: string): Promise<unknown> =>
  store.client.command({
    query: `INSERT INTO device_map (project_id, device_id, user_id, updated_at)
      SELECT {project:UUID}, {device:String}, {user:String}, now64(6)`,
    query_params: { project: projectId, device: deviceId, user: userId },
  });

const auditOf = (projectId: string): Promise<Record<string, unknown>[]> =>
  postgres('audit_entries').where({ project_id: projectId }).orderBy('id');

const lastOutcome = async (): Promise<unknown> => (await auditOf(project.id)).at(-1)?.outcome;

describe('who may ask, and for whom', () => {
  test.each([
    ['no key', () => undefined, 401],
    ['a public key', () => project.publicKey, 403],
    ['an unknown key', () => `sk_${'x'.repeat(32)}`, 401],
  ])('%s', async (_, keyOf, status) => {
    const response = await fetch(addressOf('u'), {
      headers: keyOf() === undefined ? {} : { 'X-API-Key': keyOf() ?? '' },
    });
    expect(response.status).toBe(status);
    expect(Object.keys((await response.json()) as object)).toEqual(['error']);
  });

  test.each(['\0', 'x'.repeat(513)])('an impossible id: 400 (%#)', async (userId) => {
    expect((await ask(userId)).status).toBe(400);
  });

  test('an unknown person: an empty stream, and an audit entry', async () => {
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

describe('what is exported', () => {
  test('the events of the person: by user id, by devices, and by a device of that name; and no others', async () => {
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

  test('every field, and null for what is absent', async () => {
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
        geo: { country: 'DE', city: 'Bad "X"/Y', continent: 'EU' },
      },
      {
        ...{ event_type: 'bare', time: '2026-11-02T00:00:00.000Z', insert_id: 'j', user_id: 'u', device_id: null },
        ...{ session_id: null, event_properties: {}, user_properties: {}, library: null, origin: 'unknown' },
        ...{ ip: null, user_agent: null, geo: {} },
      },
    ]);
  });

  test('property values of all types, in their original types', async () => {
    const own = await createTestProject(databases);
    const text = fc.string({ unit: 'binary', maxLength: 40 });
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
    const seed = Date.now();
    const sent = fc.sample(fc.tuple(properties, properties), { numRuns: 300, seed });
    await track(processes.url, own.publicKey, {
      events: sent.map(([event_properties, user_properties], index) => ({
        ...{ event_type: 'typed', user_id: 'typed', insert_id: String(index), event_properties, user_properties },
      })),
    });
    await untilStored(own.id, sent.length);
    const exported = await exportOf('typed', own.secretKey);
    expect(exported).toHaveLength(sent.length);
    // What a key holds survives as it is, but for NUL, which no text keeps, and the sign of zero, which JSON drops.
    const kept = (item: unknown) =>
      typeof item === 'string' ? item.replaceAll('\0', '') : Object.is(item, -0) ? 0 : item;
    const entriesOf = (held: unknown) =>
      Object.entries(held as object)
        .map(([name, item]) => [name, kept(item)] as const)
        .sort(([a], [b]) => (a < b ? -1 : 1));
    for (const event of exported) {
      const [eventProperties, userProperties] = sent[Number(event.insert_id)] ?? [];
      expect(entriesOf(event.event_properties), `seed ${seed}`).toEqual(entriesOf(eventProperties));
      expect(entriesOf(event.user_properties), `seed ${seed}`).toEqual(entriesOf(userProperties));
    }
  });

  test('60,000 events, each once and in order, also when hours and milliseconds are crowded; to three at once', async () => {
    const own = await createTestProject(databases);
    const start = Date.UTC(2026, 9, 1);
    // Nine tenths within one hour, which is more than a page, a tenth within one millisecond, the rest over fifty days.
    const timeOf = (n: number): number =>
      n % 10 === 0 ? start : n % 10 !== 5 ? start + n * 59 : start + ((n * 7_919_000) % (50 * 86_400_000));
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
  }, 180_000);

  test('a page that breaks off continues after its last line', async () => {
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
    const person = { projectId: project.id, userId };
    let text = '';
    let kills = 0;
    for await (const lines of exportEvents(source, person, new AbortController().signal)) {
      text += lines.toString();
      if (kills >= 3) continue;
      kills += 1;
      // Does not wait for its end: a query whose rows are not read ends by its send timeout of 30 s.
      await killQuery({ clickhouse: store.client, log: source.log }, asked.at(-1) ?? '');
    }
    const ids = text
      .split('\n')
      .slice(0, -1)
      .map((line) => (JSON.parse(line) as ExportedEvent).insert_id);
    expect(ids).toEqual(Array.from({ length: 30_000 }, (_, n) => String(n)));
    // Devices, hours, and more pages than the three that it would have taken.
    expect(asked.length).toBeGreaterThan(2 + 3);
  }, 60_000);
});

describe('what was exported can be sent again', () => {
  test('and gives the same answers', async () => {
    const from = await createTestProject(databases, { ipPolicy: 'full' });
    const to = await createTestProject(databases, { ipPolicy: 'full' });
    const visits = [
      [
        '198.51.100.7',
        'DE',
        'Berlin',
        'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/120.0.0.0 Safari/537.36',
      ],
      [
        '203.0.113.9',
        'FR',
        'Paris',
        'Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 Version/17.0 Mobile/15E148 Safari/604.1',
      ],
      ['192.0.2.1', '', '', 'Googlebot/2.1'],
    ] as const;
    for (const [index, [address, country, city, agent]] of visits.entries()) {
      const events = Array.from({ length: 40 }, (_, n) => ({
        event_type: n % 4 === 0 ? 'purchase' : 'page_view',
        ...(n % 5 === 0 ? { device_id: `device ${index}` } : { user_id: 'ada', device_id: `device ${index}` }),
        session_id: `session ${index} ${Math.floor(n / 10)}`,
        time: new Date(Date.now() - (index * 1000 + n) * 60_000).toISOString(),
        library: 'service-js/1',
        ...(n % 3 === 0 && { clientOriginated: true }),
        event_properties: {
          ...{
            url: `https://shop.example/item/${n % 7}?utm=1`,
            referrer: 'https://search.example/',
            title: `Item ${n % 7}`,
          },
          ...{
            price: n / 7,
            count: String(n % 4),
            flag: n % 2 === 0,
            nothing: null,
            list: [n % 3],
            utm_source: 'mail',
          },
        },
        user_properties: { plan: n % 2 === 0 ? 'gold' : 5 },
      }));
      await track(
        processes.url,
        from.publicKey,
        { events },
        {
          ...{ 'X-Forwarded-For': address, 'User-Agent': agent },
          ...(country !== '' && { 'X-Country': country, 'X-City': city }),
        },
      );
      for (const { id } of [from, to]) await mapDevice(id, `device ${index}`, 'ada');
    }
    await untilStored(from.id, 120);
    const events = await exportOf('ada', from.secretKey);
    expect(events).toHaveLength(120);
    // From another country, and with another agent.
    const answer = await track(
      processes.url,
      to.secretKey,
      { events },
      { 'X-Country': 'US', 'User-Agent': 'importer/1' },
    );
    expect(answer.body).toEqual({ accepted: 120 });
    await untilStored(to.id, 120);

    for (const q of QUESTIONS) {
      const [before, after] = await Promise.all([from, to].map(({ secretKey }) => answerOf(q, secretKey)));
      expect(before?.rows.length, q).toBeGreaterThan(0);
      expect(after, q).toEqual(before);
    }
    expect(await exportOf('ada', to.secretKey)).toEqual(events);
  });

  const QUESTIONS = [
    ...[
      '_country',
      '_city',
      '_continent',
      '_browser',
      '_os',
      '_device_type',
      '_platform',
      '_ip',
      '_ua',
      '_path',
      '_hostname',
    ],
    ...['_title', '_referrer_domain', '_library', '_ingest_origin', 'event_properties.count', 'event_properties.flag'],
    ...[
      'event_properties.list',
      'user_properties.plan',
      'session.landing_path',
      'session.utm_source',
      'session.country',
    ],
    ...['session.duration', 'user_last_session.city', 'distinct_id', 'device_id'],
  ].map((field) => `* | last 30d | count by ${field}`);
  QUESTIONS.push(
    '* | last 30d | unique distinct_id',
    '* | last 30d | sum event_properties.price',
    '* | last 30d | sum event_properties.count',
    '* | where event_properties.nothing not exists and event_properties.flag = true | last 30d | count',
    'purchase | last 30d | count by hour',
    'sessions | last 30d',
    'funnel page_view -> purchase | last 30d',
    'fields | last 30d',
    '* | last 30d | list | limit 1000',
  );

  async function answerOf(q: string, key: string): Promise<{ rows: unknown[]; total: number }> {
    const response = await fetch(`${processes.url}/query`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-API-Key': key },
      body: JSON.stringify({ q, format: 'json', limit: 1000 }),
    });
    const body = (await response.json()) as { rows: unknown[]; total: number; error?: string };
    expect(body.error).toBeUndefined();
    return { rows: body.rows, total: body.total };
  }
});

describe('a reader', () => {
  // An id that is never sent to /track, so that Redis and the logs could only know it from exports.
  const slow = `slow ${randomUUID()}`;
  const EVENTS = 60_000;

  /** Of a process that was replaced. */
  const logged: string[] = [];

  beforeAll(() => fill(slow, EVENTS), 120_000);

  const residentBytes = (name: string): number =>
    Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${processes.get(name).pid}/status`, 'utf8'))?.[1]) * 1024;

  async function redisBytes(): Promise<number> {
    return Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1]);
  }

  /** Pages of exports that the engine works on. */
  async function runningPages(): Promise<number> {
    const query =
      "SELECT count() AS n FROM system.processes WHERE query LIKE '%insert_id, event_type%LIMIT%' AND query NOT LIKE '%system.processes%'";
    const [row] = await (await store.client.query({ query, format: 'JSONEachRow' })).json<{ n: string }>();
    return Number(row?.n);
  }

  const untilQueueIsEmpty = (): Promise<void> =>
    eventually(async () => {
      const counts = await queue.getJobCounts();
      expect(Object.values(counts).every((jobs) => jobs === 0)).toBe(true);
    });

  test('that is slow stops the chain before it, and no process buffers what it has not read', async () => {
    const before = { web: residentBytes('web'), worker: residentBytes('worker'), redis: await redisBytes() };
    const response = await openSlowly(slow);
    await delay(3000);
    const held = { web: residentBytes('web'), worker: residentBytes('worker'), redis: await redisBytes() };
    expect(await readLines(response)).toBe(EVENTS);
    const after = { web: residentBytes('web'), worker: residentBytes('worker') };
    // 120 MB went through. Garbage that is not yet collected is counted here, too.
    expect(held.redis - before.redis).toBeLessThan(8 * MEBIBYTE);
    expect(held.web - before.web).toBeLessThan(60 * MEBIBYTE);
    expect(held.worker - before.worker).toBeLessThan(60 * MEBIBYTE);
    expect(after.web - before.web).toBeLessThan(100 * MEBIBYTE);
    expect(after.worker - before.worker).toBeLessThan(100 * MEBIBYTE);
    expect(await lastOutcome()).toBe('completed');
  }, 120_000);

  test('beyond the limit is told to come later', async () => {
    const responses = await Promise.all(Array.from({ length: EXPORTS_MAX }, () => openSlowly(slow)));
    const refused = await ask(slow);
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe('60');
    for (const response of responses) response.destroy();
    await eventually(async () => expect((await ask('nobody')).status).toBe(200));
  }, 60_000);

  test('that disconnects ends its query and its job', async () => {
    const response = await openSlowly(slow);
    // Into the third page, which is too large to be on its way as a whole.
    await take(response, 18 * MEBIBYTE);
    await eventually(async () => expect(await runningPages()).toBeGreaterThan(0));
    response.destroy();
    await eventually(async () => expect(await runningPages()).toBe(0));
    await eventually(async () => expect(await lastOutcome()).toBe('cancelled'));
    await untilQueueIsEmpty();
  }, 60_000);

  test('gets a broken connection when the worker ends, 503 without a worker, and an answer from the next one', async () => {
    const response = await openSlowly(slow);
    const worker = processes.get('worker');
    await worker.kill();
    logged.push(...worker.output);
    await expect(readLines(response)).rejects.toThrow('aborted');
    await eventually(async () => expect(await lastOutcome()).toBe('failed'));
    expect(processes.get('web').output.join()).toContain('an export failed');

    const refused = await ask(slow);
    expect(refused.status).toBe(503);
    expect(await refused.json()).toEqual({ error: 'the export is not available right now; try again' });
    expect(await lastOutcome()).toBe('failed');

    await processes.start('worker');
    expect(await readLines((await openSlowly(slow)).resume())).toBe(EVENTS);
  }, 120_000);

  test('leaves no trace of the person in Redis, in its files or in the logs', async () => {
    const [, directory = ''] = (await redis.config('GET', 'dir')) as string[];
    const folder = join(directory, 'appendonlydir');
    for (const file of readdirSync(folder)) expect(readFileSync(join(folder, file)).includes(slow), file).toBe(false);
    const running = ['web', 'query', 'worker'].flatMap((name) => processes.get(name).output);
    const text = [...logged, ...running].join('\n');
    expect(text).not.toContain(slow);
    expect(text).not.toContain(encodeURIComponent(slow));
  });
});
