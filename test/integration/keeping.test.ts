// What a project lets in and keeps: drop rules and edges of its definitions, in the processes of a
// service.
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { parseDefinitions } from '../../src/definitions/parse-definitions.js';
import { acceptRequest } from '../../src/ingest/accept.js';
import { parseTrackBody } from '../../src/ingest/body.js';
import { compiledRules } from '../../src/ingest/drop/compiled-rules.js';
import { listDueKeeps, readSafeNow } from '../../src/keeping/store.js';
import { toProjectId } from '../../src/platform/ids.js';
import { type Answer, send } from '../support/accounts.js';
import { EMPTY_PROJECT } from '../support/definitions.js';
import { examplesOf } from '../support/documentation.js';
import { digestOfOthers, type ErasureStack, startErasureStack, type Tenant } from '../support/erasure.js';
import { eventually } from '../support/eventually.js';
import { beNextNight, DAY_MS, startKeeping, startNight, startOfToday } from '../support/keeping.js';
import { track } from '../support/track.js';

let stack: ErasureStack;
let url: string;

beforeAll(async () => {
  stack = await startErasureStack();
  url = stack.processes.url;
}, 240_000);

afterAll(() => stack?.close());

const put = (source_yaml: string, key: string): Promise<Answer> =>
  send(url, 'PUT /api/definitions', { key, body: { source_yaml } });

describe('drop rules', () => {
  const CHROME = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0';
  /**
   * Resolves when the rules count: they come with the lookup of a key, which a process holds for a
   * second.
   */
  async function drop(yaml: string, of: Tenant): Promise<void> {
    const { secretKey } = of.project;
    expect((await put(`version: 1\n${yaml}`, secretKey)).status).toBeLessThan(300);
    await eventually(async () => {
      expect((await track(url, secretKey, { event_type: 'debug' })).body).toEqual({ accepted: 0, dropped: 1 });
    });
  }
  const droppedOf = async (of: Tenant) =>
    (await send(url, 'GET /api/definitions/dropped', { key: of.project.secretKey })).body;
  const typesOf = async (of: Tenant): Promise<unknown[]> =>
    (await of.ask('* | where event_type != "debug" | last 3y | list event_type | sort event_type')).map(
      (row) => row.event_type,
    );

  test('decide at once about events of every key, are counted, and tell a secret key', async () => {
    const own = await stack.createTenant();
    const { publicKey, secretKey } = own.project;
    const [documented = ''] = examplesOf('keeping.md', 'yaml');
    await drop(documented.replace('version: 1\n', ''), own);
    const events = [
      { event_type: 'debug' },
      { event_type: 'a', event_properties: { internal: true } },
      { event_type: 'kept' },
      // An import: it has its own client and an old time.
      { event_type: 'b', user_agent: 'Mozilla/5.0 PhantomJS/2.1', time: '2024-02-03T04:05:06Z' },
      { event_type: 'c', user_agent: 'Googlebot/2.1' },
      { event_type: 'old', user_agent: CHROME, time: '2024-02-03T04:05:06Z' },
    ];
    expect((await track(url, secretKey, { events })).body).toEqual({ accepted: 2, dropped: 4 });
    const asBrowser = (userAgent: string) => track(url, publicKey, { events }, { 'User-Agent': userAgent });
    expect((await asBrowser(CHROME)).body).toEqual({ accepted: 4 });
    expect((await asBrowser('Googlebot/2.1')).body).toEqual({ accepted: 0 });
    await own.holds(6, "event_type != 'debug'");
    expect(await typesOf(own)).toEqual(['b', 'c', 'kept', 'kept', 'old', 'old']);
    await eventually(async () => {
      const { rules, bots } = await droppedOf(own);
      expect(rules.map(({ events: count }: { events: number }) => count)).toEqual([0, 1, 4, 3]);
      expect(bots).toMatchObject({ choice: 'drop', events: 5 });
      expect(rules[2]).toMatchObject({ event: 'debug', line: 5, days: [{ events: 4 }] });
    });
    await put('version: 1\n', secretKey);
    await eventually(async () => {
      expect((await track(url, secretKey, { event_type: 'debug' })).body).toEqual({ accepted: 1 });
    });
    expect(await droppedOf(own)).toEqual({ rules: [], bots: expect.objectContaining({ choice: 'keep', events: 5 }) });
  });

  test('decide the same in threads, for bodies and expressions that take long', async () => {
    const own = await stack.createTenant();
    await drop(`drop: [{ event: debug }, { when: 'event_properties.text ~ "(a|b)*c[0-9]{20}"' }]`, own);
    const large = (text: string) => ({ event_type: 'x', event_properties: { text: `${text}${'a'.repeat(900)}` } });
    const found = `c${'1'.repeat(20)}`;
    const events = Array.from({ length: 300 }, (_, index) => large(index % 3 === 0 ? found : 'b'));
    const few = await track(url, own.project.secretKey, { events: [large(found), large('b')] });
    expect(few.body).toEqual({ accepted: 1, dropped: 1 });
    expect((await track(url, own.project.secretKey, { events })).body).toEqual({ accepted: 200, dropped: 100 });
  });

  const PROPERTIES = [
    ...[5, '5', '5.0', 5.5, 0, -1, true, false, 'true', '', null, 'Straße', 'a\nb', 1e21, '9007199254740993'],
    ...[9007199254740992, '1e3', { a: 1 }, [1, 2], ' 5', '0x10', 'NaN', 'inf'],
  ];
  const VALUES = [
    '5',
    '"5"',
    '"5.0"',
    '0',
    'true',
    'false',
    '"true"',
    '""',
    '"1e21"',
    '9007199254740993',
    '1000',
    '"a"',
  ];
  const ON_PROPERTY = [
    ...VALUES.flatMap((value) => [`= ${value}`, `!= ${value}`, `< ${value}`, `>= ${value}`]),
    ...['exists', 'not exists', 'contains "a"', 'contains ""', 'contains "5"', 'starts with "S"', 'not ends with "5"'],
    ...['~ "a.b"', '~ "^5"', '!~ "ß"', 'in (5, "true", "a")', 'not in (0, -1)', '~ "(?i)STRASSE|straße"'],
  ];
  const ON_FIELDS = [
    ...[
      'event_type = "e1"',
      '_path = "/a/1"',
      '_path_clean = "/a/{id}"',
      '_hostname ends with "example"',
      '_url exists',
    ],
    ...[
      '_browser = "Chrome"',
      '_device_type = "bot"',
      '_os not exists',
      '_ua contains "Chrome"',
      '_ip exists',
      '_ip = "198.51.100.0"',
    ],
    ...['_referrer_domain = "r.example"', 'user_id = 7', 'user_id = "07"', 'user_id > 5', 'device_id not exists'],
    ...[
      'time < 2026-01-01',
      'time = 2025-06-01T00:00:00Z',
      '_geo_country = "DE"',
      '_geo_latitude > 52',
      '_geo_latitude = 52.5',
    ],
    ...['_geo_city exists', '_library starts with "x"', '_ingest_origin = "server"', 'user_properties.plan = "pro"'],
    ...['_title contains "T" and (event_properties.v = 5 or not event_properties.v exists)', '_platform = "web"'],
  ];

  test('drop the events that a query with the same condition finds', async () => {
    const own = await stack.createTenant();
    const events = [
      ...PROPERTIES.map((v, index) => ({ event_type: `e${index}`, event_properties: { v } })),
      {
        event_type: 'page',
        event_properties: { url: 'https://a.example/a/1?q=2', title: 'T', referrer: 'https://r.example/x' },
      },
      {
        event_type: 'person',
        user_id: 7,
        user_properties: { plan: 'pro' },
        library: 'x'.repeat(300),
        origin: 'server',
      },
      { event_type: 'person', user_id: '07', time: '2025-06-01T00:00:00Z', device_id: 'd' },
      {
        event_type: 'client',
        ip: '198.51.100.7',
        user_agent: CHROME,
        geo: { country: 'DE', latitude: 52.5, city: 'Köln' },
      },
      { event_type: 'client', ip: null, user_agent: 'Googlebot/2.1 (+http://www.google.com/bot.html)' },
    ].map((event, index) => ({ insert_id: `i${index}`, ...event }));
    const sent = await track(url, own.project.secretKey, { events });
    expect(sent.body).toEqual({ accepted: events.length });
    await own.holds(events.length);
    const conditions = [...ON_PROPERTY.map((of) => `event_properties.v ${of}`), ...ON_FIELDS];
    const bytes = Buffer.from(JSON.stringify({ events }));
    const differences: string[] = [];
    let findings = 0;
    for (const when of conditions) {
      const found = (await own.ask(`* | where ${when} | last 3y | list insert_id | limit 100`)).map(
        (row) => row.insert_id,
      );
      const { rules } = parseDefinitions(`version: 1\ndrop: [{ when: ${JSON.stringify(when)} }]`, {
        ...{ ...EMPTY_PROJECT, privateAddresses: [], nowMs: Date.now(), timezone: 'UTC' },
      });
      const { envelope } = acceptRequest(
        {
          ...{ bytes, body: parseTrackBody(bytes), address: '127.0.0.1', headers: { 'user-agent': 'node' } },
          ...{ proxyHeaders: {}, id: '', now: Date.now() },
          credential: { kind: 'secret', projectId: toProjectId(own.project.id), ipPolicy: 'anonymize' },
        },
        {
          limits: { propertiesMax: 9, userPropertiesMax: 9, keyLengthMax: 99, valueBytesMax: 999 },
          findGeography: () => ({}),
          rules: compiledRules(when, { version: 1, dropsBots: false, rules: rules?.rules ?? [] }),
        },
      );
      findings += found.length;
      const dropped = (envelope.header.skip ?? []).map((position) => events[position]?.insert_id);
      if ([...dropped].sort().join() !== [...found].sort().join())
        differences.push(`${when}: ${dropped} is not ${found}`);
    }
    expect(differences).toEqual([]);
    expect(findings).toBeGreaterThan(400);
  });
});

describe('keeping', () => {
  let today: number;
  beforeAll(async () => {
    today = await startOfToday();
  }, 360_000);
  const daysAgo = (days: number, ms = 0): string => new Date(today - days * DAY_MS + ms).toISOString();
  const keptOf = async (of: Tenant) =>
    (await send(url, 'GET /api/definitions/keep', { key: of.project.secretKey })).body;
  const idsOf = async (of: Tenant): Promise<string[]> =>
    (await stack.store.rows<{ insert_id: string }>(of.project.id, 'insert_id')).map((row) => row.insert_id).sort();

  /** Resolves with the receipt once no file has what is deleted. */
  async function passNight(of: Tenant): Promise<Record<string, unknown>> {
    await startNight(stack, of.project.id);
    return eventually(async () => {
      const [receipt] = (await keptOf(of)).receipts;
      expect(receipt).toMatchObject({ day: daysAgo(0).slice(0, 10), status: 'purged' });
      return receipt;
    }, 240_000);
  }

  test('two years of events lose exactly what is behind the edges, and others none', async () => {
    const [own, other] = [await stack.createTenant(), await stack.createTenant()];
    const { secretKey } = own.project;
    const gone = `gone-${randomBytes(12).toString('hex')}`;
    const ofDay = (event_type: string, days: number, ms = 0) => ({
      ...{ event_type, time: daysAgo(days, ms), insert_id: `${event_type} ${days} ${ms}`, user_id: 'ann' },
      event_properties: { note: event_type === 'page_view' && days > 90 ? gone : 'kept' },
    });
    const edges = [ofDay('page_view', 90), ofDay('page_view', 90, -1), ofDay('order', 400), ofDay('order', 400, -1)];
    const days = Array.from({ length: 73 }, (_, index) => 10 * index);
    const common = [
      ...days.flatMap((day) => [ofDay('page_view', day, 5), ofDay('order', day, 5)]),
      // The last millisecond that goes, and the first that stays.
      ...edges,
      ofDay('signup', 700),
    ];
    // Alone in its month: its part is dropped instead of rewritten.
    const events = [...common, ofDay('page_view', 1200), ofDay('order', 1200)];
    await own.identify('ann', 'phone', { plan: 'pro' });
    for (const [tenant, sent] of [
      [own, events],
      [other, common],
    ] as const) {
      expect((await track(url, tenant.project.secretKey, { events: sent })).body).toEqual({ accepted: sent.length });
    }
    for (const [tenant, sent] of [
      [own, events],
      [other, common],
    ] as const)
      await tenant.holds(sent.length);

    const yaml = 'version: 1\nkeep: { default: 400d, page_view: 90d, signup: 1000d }\n';
    /** In the night of today; of the coming night, one day less is kept. */
    const isExpired = ({ event_type, time }: { event_type: string; time: string }, daysLess = 0): boolean =>
      time < daysAgo(({ page_view: 90, order: 400 }[event_type] ?? 1000) - daysLess);
    const expired = events.filter((event) => isExpired(event));
    const countOf = (type: string): number => expired.filter(({ event_type }) => event_type === type).length;
    const dueOf = (type: string): number =>
      events.filter((event) => event.event_type === type && isExpired(event, 1)).length;
    expect([dueOf('page_view'), dueOf('order')]).toEqual([countOf('page_view') + 2, countOf('order') + 2]);
    const tried = await send(url, 'PUT /api/definitions?dry_run=true', { key: secretKey, body: { source_yaml: yaml } });
    expect(tried.body.warnings).toEqual([
      expect.stringContaining(`keep 90d: ${dueOf('page_view')} events page_view before ${daysAgo(89)}`),
      expect.stringContaining(`keep 400d: ${dueOf('order')} events before ${daysAgo(399)}`),
    ]);
    await put(yaml, secretKey);
    expect(await own.ask('* | since 2000-01-01 | count')).toMatchObject([{ value: events.length }]);
    const shown = await keptOf(own);
    expect(shown.edges.map(({ due }: { due: number }) => due)).toEqual([dueOf('page_view'), 0, dueOf('order')]);
    const body = { q: 'page_view | last 100d | count', format: 'json' };
    expect((await send(url, 'POST /query', { key: secretKey, body })).body.metadata.warnings).toEqual([
      `events page_view before ${daysAgo(90).slice(0, 10)} are not kept (keep: 90d)`,
    ]);

    const before = await digestOfOthers(stack.store, other.project.id, '0');
    const receipt = await passNight(own);
    expect(receipt).toMatchObject({ events: expired.length });
    expect(receipt.deleted).toEqual([
      { event: 'page_view', events: countOf('page_view') },
      { event: 'order', events: countOf('order') },
    ]);
    // Not even as deleted rows of a part.
    expect(await partsWithDeletedRows()).toEqual([]);
    const left = events.filter((event) => !isExpired(event)).map(({ insert_id }) => insert_id);
    expect(await idsOf(own)).toEqual(left.sort());
    expect(await digestOfOthers(stack.store, other.project.id, '0')).toBe(before);
    // Of the hourly counts as well.
    const byYear = (await own.ask('* | since 2000-01-01 | count by year')).filter(({ value }) => value !== 0);
    expect(byYear.reduce((sum, { value }) => sum + Number(value), 0)).toBe(left.length);
    // Identity is no event.
    expect(await own.ask('users | where user.plan = "pro" | count')).toMatchObject([{ value: 1 }]);
    await eventually(async () => {
      const catalog = await send(url, 'GET /catalog', { key: secretKey });
      expect(catalog.body).toMatchObject({ complete: true });
      const pageView = catalog.body.events.find((row: { event_type: string }) => row.event_type === 'page_view');
      expect(pageView).toMatchObject({ count: left.filter((id) => id.startsWith('page')).length });
      expect(JSON.stringify(catalog.body)).not.toContain(gone);
    }, 120_000);
  }, 240_000);

  test('events that arrive behind the edge are stored, and go in the next night', async () => {
    const own = await stack.createTenant();
    await put('version: 1\nkeep: { default: 90d }\n', own.project.secretKey);
    const view = (insert_id: string, days: number) => ({ event_type: 'page_view', insert_id, time: daysAgo(days) });
    await own.send(view('new', 1), view('late', 200));
    await own.holds(2);
    expect(await passNight(own)).toMatchObject({ events: 1, purged_at: expect.any(String) });
    expect(await idsOf(own)).toEqual(['new']);
    expect(await passNight(own)).toMatchObject({ events: 0, deleted: [] });
    expect(await idsOf(own)).toEqual(['new']);
  }, 240_000);

  test('receipts of runs that failed are finished by the next one, which counts what it deletes', async () => {
    const own = await stack.createTenant();
    await put('version: 1\nkeep: { default: 90d }\n', own.project.secretKey);
    const view = (insert_id: string, days: number) => ({ event_type: 'page_view', insert_id, time: daysAgo(days) });
    await own.send(view('new', 1), view('late', 200), view('later', 300));
    await own.holds(3);
    await beNextNight(stack.postgres, own.project.id);
    // As two runs leave them that ended before they had deleted anything.
    const leave = (days: number) =>
      stack.postgres('keep_receipts').insert({
        ...{ project_id: own.project.id, day: daysAgo(days).slice(0, 10), deleted: '[]' },
        edges: JSON.stringify([{ days: 90, beforeMs: today - (90 + days) * DAY_MS }]),
      });
    await Promise.all([leave(1), leave(0)]);
    await startKeeping(stack);
    await eventually(async () => {
      expect((await keptOf(own)).receipts).toMatchObject([
        { day: daysAgo(0).slice(0, 10), events: 2, status: 'purged' },
        { day: daysAgo(1).slice(0, 10), events: 0, status: 'purged' },
      ]);
    }, 240_000);
    expect(await idsOf(own)).toEqual(['new']);
  }, 300_000);

  test('a run that failed while it deleted counts each event once', async () => {
    const own = await stack.createTenant();
    await put('version: 1\nkeep: { default: 90d }\n', own.project.secretKey);
    await own.send({ event_type: 'page_view', insert_id: 'late', time: daysAgo(200) });
    await own.holds(1);
    await beNextNight(stack.postgres, own.project.id);
    // Three were counted, and two of them are deleted; one more is known from a run before.
    const countsOf = (events: number) => JSON.stringify([{ event: 'page_view', events }]);
    await stack.postgres('keep_receipts').insert({
      ...{ project_id: own.project.id, day: daysAgo(0).slice(0, 10), deleted: countsOf(1), pending: countsOf(3) },
      edges: JSON.stringify([{ days: 90, beforeMs: today - 90 * DAY_MS }]),
    });
    await startKeeping(stack);
    await eventually(async () => {
      expect((await keptOf(own)).receipts).toMatchObject([{ events: 4, status: 'purged' }]);
    }, 240_000);
  }, 300_000);

  async function partsWithDeletedRows(): Promise<unknown[]> {
    const result = await stack.store.client.query({
      query: `SELECT name FROM system.parts
        WHERE active AND table = 'events' AND database = currentDatabase() AND has_lightweight_delete`,
      format: 'JSONEachRow',
    });
    return result.json();
  }

  test('a change waits for midnight, and what is wrong is refused with its place', async () => {
    const own = await stack.createTenant();
    await put('version: 1\nkeep: { default: 30d }\n', own.project.secretKey);
    const due = async (nowMs: number) => (await listDueKeeps(stack.postgres, nowMs)).map(({ projectId }) => projectId);
    expect(await due(Date.now())).not.toContain(own.project.id);
    expect(await due(today + DAY_MS)).toContain(own.project.id);
    await beNextNight(stack.postgres, own.project.id);
    // Another change keeps the time of this one.
    await put('version: 1\nkeep: { default: 30d }\nbots: drop\n', own.project.secretKey);
    expect(await due(Date.now())).toContain(own.project.id);
    await put('version: 1\nkeep: { default: 20d }\nbots: drop\n', own.project.secretKey);
    expect(await due(Date.now())).not.toContain(own.project.id);
    const wrong = await put('version: 1\nkeep:\n  page_view: 3 weeks\n', own.project.secretKey);
    expect(wrong.body.details).toMatchObject([
      { line: 3, path: 'keep.page_view', hint: 'it is a number of days from 1d to 9999d: 90d' },
    ]);
  });
  test('a clock that is ahead deletes nothing earlier', async () => {
    const nowMs = Date.now();
    vi.useFakeTimers({ toFake: ['Date'], now: nowMs + 400 * DAY_MS });
    try {
      expect(await readSafeNow(stack.postgres)).toBeLessThan(nowMs + DAY_MS);
      vi.setSystemTime(nowMs - 400 * DAY_MS);
      expect(await readSafeNow(stack.postgres)).toBe(nowMs - 400 * DAY_MS);
    } finally {
      vi.useRealTimers();
    }
  });
});
