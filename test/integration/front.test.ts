// Events are answered in front of the router of express (src/ingest/front.ts), and what the front
// does not know by the router: both answer the same. A target in the absolute form is equal to its
// path, and is one that the front does not know.
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { NewProject } from '../../src/accounts/store.js';
import { createPostgres } from '../../src/platform/postgres/client.js';
import { eventually } from '../support/eventually.js';
import { askRows } from '../support/identify.js';
import { type RawAnswer, sendRaw } from '../support/raw-http.js';
import { createTestDatabases, type ProcessGroup, startProcesses, type TestDatabases } from '../support/stack.js';
import { createTestProject } from '../support/track.js';

const LIMIT = 100;

let databases: TestDatabases;
let processes: ProcessGroup;
let project: NewProject;
let crowded: NewProject;
let refusing: NewProject;

beforeAll(async () => {
  databases = await createTestDatabases({
    TRACK_REQUESTS_PER_SECOND: String(LIMIT),
    MAX_REQUEST_BYTES: '4096',
    TRUST_PROXY: 'loopback',
  });
  [project, crowded, refusing] = [
    await createTestProject(databases),
    await createTestProject(databases),
    await createTestProject(databases),
  ];
  processes = await startProcesses(databases.env);
});

afterAll(async () => {
  await processes?.stop();
  await databases?.close();
});

interface Asked {
  readonly path: string;
  readonly body?: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: string;
}

const WAYS = ['front', 'router'] as const;
type Way = (typeof WAYS)[number];

function send(way: Way, { path, body = '', headers = {}, method = 'POST' }: Asked): Promise<RawAnswer> {
  const bytes = Buffer.from(body);
  const all = {
    ...{ Host: 'localhost', Connection: 'close', 'Content-Length': String(bytes.length) },
    ...{ 'X-Request-Id': 'same-of-both', 'X-Forwarded-For': '203.0.113.7', ...headers },
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  const target = way === 'front' ? path : `http://localhost${path}`;
  return sendRaw(processes.url, `${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n${bytes.toString('latin1')}`);
}

/** What may not differ: everything but the moment. */
const toCompared = ({ status, headers, body }: RawAnswer) => ({
  status,
  headers: [...headers].filter(([name]) => name !== 'date').sort(),
  body: body.replace(/"server_upload_time":\d+/, '"server_upload_time":0'),
});

async function expectSame(asked: Asked): Promise<RawAnswer> {
  const [front, router] = [await send('front', asked), await send('router', asked)];
  expect(toCompared(front)).toEqual(toCompared(router));
  return front;
}

const basic = (key: string) => ({ Authorization: `Basic ${Buffer.from(`${key}:`).toString('base64')}` });
const json = (value: unknown) => JSON.stringify(value);
const segmentCall = () => ({ type: 'track', event: 'bought', userId: 'ada', messageId: 'm1', timestamp: '2026-01-01' });
const posthogEvent = () => ({ event: 'bought', distinct_id: 'ada', uuid: 'u1', properties: { $is_identified: true } });
const amplitudeEvent = () => ({ event_type: 'bought', user_id: 'ada', insert_id: 'a1' });
const posthogBody = () => json({ api_key: project.publicKey, batch: [posthogEvent()] });
const amplitudeBody = () => json({ api_key: project.publicKey, events: [amplitudeEvent()] });

/** Requests with the status that both ways answer. */
const CASES: Readonly<Record<string, readonly [number, () => Asked]>> = {
  'track: an event': [200, () => trackOf(json({ event_type: 'a' }))],
  'track: no JSON': [400, () => trackOf('{')],
  'track: with a query': [400, () => ({ ...trackOf(json({ event_type: 'a' })), path: '/track?wait=yes' })],
  'track: no key': [401, () => ({ path: '/track', body: '{}' })],
  'track: another method': [405, () => ({ path: '/track', method: 'PUT' })],

  'segment: a batch, key in the head': [
    200,
    () => ({ path: '/v1/batch', headers: basic(project.publicKey), body: json({ batch: [segmentCall()] }) }),
  ],
  'segment: a call, key in the body': [
    200,
    () => ({ path: '/v1/t', body: json({ ...segmentCall(), writeKey: project.publicKey }) }),
  ],
  'segment: a profile': [
    200,
    () => ({
      path: '/v1/identify',
      headers: basic(project.publicKey),
      body: json({ type: 'identify', userId: 'ada', traits: { plan: 'pro' } }),
    }),
  ],
  'segment: gzip without a header': [
    200,
    () => ({
      path: '/v1/batch',
      headers: basic(project.publicKey),
      body: gzipSync(json({ batch: [segmentCall()] })),
    }),
  ],
  'segment: measurements of itself, which have no key': [200, () => ({ path: '/v1/m', body: json({ series: [] }) })],
  'segment: a percent-encoded call': [
    200,
    () => ({ path: '/v1/%74', body: json({ ...segmentCall(), writeKey: project.publicKey }) }),
  ],
  'segment: an unknown call': [404, () => ({ path: '/v1/nothing', headers: basic(project.publicKey), body: '{}' })],
  'segment: no array': [
    400,
    () => ({ path: '/v1/batch', headers: basic(project.publicKey), body: json({ batch: 5 }) }),
  ],
  'segment: a wrong key': [401, () => ({ path: '/v1/batch', headers: basic('pk_wrong'), body: '{}' })],
  'segment: no key': [401, () => ({ path: '/v1/batch', body: json({ batch: [] }) })],
  'segment: a preflight': [204, () => ({ path: '/v1/batch', method: 'OPTIONS' })],
  'segment: another method': [405, () => ({ path: '/v1/batch', method: 'PUT' })],

  'posthog: a batch': [200, () => ({ path: '/batch/', body: posthogBody() })],
  'posthog: gzip as text, with a query': [
    200,
    () => ({
      path: '/e/?ip=0&_=1767225600000&ver=1.298.0&compression=gzip-js',
      headers: { 'Content-Type': 'text/plain' },
      body: gzipSync(posthogBody()),
    }),
  ],
  'posthog: a form': [
    200,
    () => ({
      path: '/e/?compression=base64',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      body: `data=${encodeURIComponent(Buffer.from(posthogBody()).toString('base64'))}`,
    }),
  ],
  'posthog: Content-Encoding': [
    200,
    () => ({ path: '/i/v0/e', headers: { 'Content-Encoding': 'gzip' }, body: gzipSync(posthogBody()) }),
  ],
  'posthog: the second form': [
    200,
    () => ({
      path: '/i/v1/analytics/events',
      headers: { Authorization: `Bearer ${project.publicKey}`, 'PostHog-Sdk-Info': 'web/2' },
      body: json({ batch: [{ ...posthogEvent(), options: {} }] }),
    }),
  ],
  'posthog: a key in the query': [
    200,
    () => ({ path: `/capture/?key=${project.publicKey}`, body: json(posthogEvent()) }),
  ],
  'posthog: a secret key in the query': [
    401,
    () => ({ path: `/capture/?key=${project.secretKey}`, body: json(posthogEvent()) }),
  ],
  'posthog: a key twice in the query': [
    401,
    () => ({ path: `/capture/?key=${project.publicKey}&key=b`, body: json(posthogEvent()) }),
  ],
  'posthog: no event': [400, () => ({ path: '/e', body: json({ api_key: project.publicKey }) })],
  'posthog: an unknown encoding': [
    400,
    () => ({ path: '/e/', headers: { 'Content-Encoding': 'zstd' }, body: posthogBody() }),
  ],
  'posthog: gzip that ends early': [400, () => ({ path: '/e/', body: gzipSync(posthogBody()).subarray(0, 40) })],
  'posthog: a body above the limit': [413, () => ({ path: '/e/', body: ' '.repeat(4097) })],
  'posthog: a body above the limit when unpacked': [413, () => ({ path: '/e/', body: gzipSync(' '.repeat(5000)) })],

  'amplitude: events': [200, () => ({ path: '/2/httpapi', body: amplitudeBody() })],
  'amplitude: events on the shared path': [200, () => ({ path: '/batch', body: amplitudeBody() })],
  'amplitude: no array': [400, () => ({ path: '/2/httpapi', body: json({ api_key: project.publicKey }) })],
  'amplitude: a wrong key': [401, () => ({ path: '/2/httpapi', body: json({ api_key: 'pk_x', events: [] }) })],
  'amplitude: a wrong key on the shared path': [
    401,
    () => ({ path: '/batch', body: json({ api_key: 'pk_x', events: [] }) }),
  ],
};

const trackOf = (body: string): Asked => ({ path: '/track', headers: { 'X-API-Key': project.publicKey }, body });

describe('the front and the router answer the same', () => {
  test.each(Object.entries(CASES))('%s', async (_, [status, toAsked]) => {
    expect(await expectSame(toAsked())).toMatchObject({ status });
  });
});

test('both count requests under the same route', async () => {
  const counted = async () => {
    const page = await (await fetch(`${processes.get('web').url}/metrics`)).text();
    const samples = page.matchAll(/^http_request_duration_seconds_count\{(.*)\} (\d+)$/gm);
    const ours = [...samples].filter(([, labels]) => /route="\/(?:track|v1\/:call|e\/|batch)"/.test(String(labels)));
    return Object.fromEntries(ours.map(([, labels = '', count]) => [labels, Number(count)]));
  };
  const asked = ['track: an event', 'segment: no array', 'segment: a call, key in the body', 'posthog: a form'];
  const differenceOf = async (way: Way) => {
    const before = await counted();
    for (const name of asked) await send(way, askedOf(name));
    return Object.entries(await counted()).map(([labels, count]) => [labels, count - (before[labels] ?? 0)]);
  };
  // So that all of them are there.
  await differenceOf('front');
  const ofFront = await differenceOf('front');
  expect(ofFront.reduce((sum, [, count]) => sum + Number(count), 0)).toBe(asked.length);
  expect(ofFront).toEqual(await differenceOf('router'));
});

test('both store the same', async () => {
  const sent = (way: Way, n: number) => [
    { writeKey: project.publicKey, ...segmentCall(), messageId: `s${n}`, event: `segment by the ${way}` },
    { api_key: project.publicKey, events: [{ ...amplitudeEvent(), insert_id: `a${n}`, event_type: `by the ${way}` }] },
  ];
  for (const [n, way] of WAYS.entries()) {
    const [segment, amplitude] = sent(way, n);
    const headers = { 'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0' };
    expect(await send(way, { path: '/v1/track', body: json(segment), headers })).toMatchObject({ status: 200 });
    expect(await send(way, { path: '/2/httpapi', body: json(amplitude), headers })).toMatchObject({ status: 200 });
  }
  const fields = 'event_type, user_id, _library, _browser, _ip, _ingest_origin';
  const stored = await eventually(async () => {
    const rows = await askRows(processes.url, project.secretKey, `* | list ${fields} | last 1000d`);
    const ours = rows.filter(({ event_type: type }) => /by the (?:front|router)$/.test(String(type)));
    expect(ours).toHaveLength(4);
    return ours;
  });
  const of = (way: Way) =>
    stored
      .filter(({ event_type: type }) => String(type).endsWith(way))
      .map((row) => ({ ...row, event_type: String(row.event_type).replace(way, '') }));
  expect(of('front')).toEqual(of('router'));
});

test('amplitude: the answer counts events of the request, not what they change', async () => {
  const both = { user_id: 'ada', device_id: 'd1', user_properties: { plan: 'pro' } };
  const events = [
    { ...amplitudeEvent(), ...both },
    { event_type: '$identify', ...both },
    { event_type: 'session_start', device_id: 'd1' },
  ];
  const answer = await expectSame({ path: '/2/httpapi', body: json({ api_key: project.publicKey, events }) });
  expect(JSON.parse(answer.body)).toMatchObject({ code: 200, events_ingested: 2 });
});

test.each<[string, number, (key: string) => Asked]>([
  ['track', 429, (key) => ({ path: '/track', headers: { 'X-API-Key': key }, body: json({ event_type: 'a' }) })],
  ['segment', 429, (key) => ({ path: '/v1/t', headers: basic(key), body: json(segmentCall()) })],
  ['posthog', 503, (key) => ({ path: '/e/', body: json({ ...posthogEvent(), api_key: key }) })],
  ['amplitude', 429, (key) => ({ path: '/2/httpapi', body: json({ api_key: key, events: [amplitudeEvent()] }) })],
])('both refuse a key above its rate alike: %s', async (_, status, toAsked) => {
  const refused = async (way: Way) =>
    eventually(async () => {
      const asked = toAsked(crowded.publicKey);
      const answers = await Promise.all(Array.from({ length: 2 * LIMIT }, () => send(way, asked)));
      const answer = answers.find((each) => each.status !== 200);
      expect(answer).toMatchObject({ status });
      return answer as RawAnswer;
    });
  expect(toCompared(await refused('front'))).toEqual(toCompared(await refused('router')));
});

test('both refuse for a project without other SDKs alike', async () => {
  const postgres = createPostgres(databases.config);
  await postgres('projects').where({ id: refusing.id }).update({ other_sdks: false });
  await postgres.destroy();
  for (const asked of [
    { path: '/v1/t', headers: basic(refusing.publicKey), body: json(segmentCall()) },
    { path: '/e/', body: json({ ...posthogEvent(), api_key: refusing.publicKey }) },
    { path: '/2/httpapi', body: json({ api_key: refusing.publicKey, events: [amplitudeEvent()] }) },
  ]) {
    expect(await expectSame(asked)).toMatchObject({ status: 403 });
  }
});

const askedOf = (name: string): Asked => {
  const [, toAsked] = CASES[name] ?? [];
  if (toAsked === undefined) throw new Error(`there is no case "${name}"`);
  return toAsked();
};
