// What a project lets in: drop rules of its definitions, in the processes of a service.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseDefinitions } from '../../src/definitions/parse-definitions.js';
import { acceptRequest } from '../../src/ingest/accept.js';
import { parseTrackBody } from '../../src/ingest/body.js';
import { compiledRules } from '../../src/ingest/drop/compiled-rules.js';
import { toProjectId } from '../../src/platform/ids.js';
import { type Answer, send } from '../support/accounts.js';
import { EMPTY_PROJECT } from '../support/definitions.js';
import { examplesOf } from '../support/documentation.js';
import { type ErasureStack, startErasureStack, type Tenant } from '../support/erasure.js';
import { eventually } from '../support/eventually.js';
import { track } from '../support/track.js';

let stack: ErasureStack;
let url: string;

beforeAll(async () => {
  stack = await startErasureStack();
  url = stack.processes.url;
}, 120_000);

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
        ...{ ...EMPTY_PROJECT, nowMs: Date.now(), timezone: 'UTC' },
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
