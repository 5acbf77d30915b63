// Bodies of /track that are parsed in a thread: their bytes are moved there and back.
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BOUNDS } from '../../src/platform/flow/bounds.js';
import { eventually } from '../support/eventually.js';
import { createTestDatabases, type ProcessGroup, startProcesses, type TestDatabases } from '../support/stack.js';
import { createTestProject, type EventStore, openEventStore, track } from '../support/track.js';

const EVENTS = 1000;
const BYTES_PER_SECOND = 300_000;

let databases: TestDatabases;
let processes: ProcessGroup;
let store: EventStore;

beforeAll(async () => {
  databases = await createTestDatabases({ PROJECT_BYTES_PER_SECOND: String(BYTES_PER_SECOND) });
  store = openEventStore(databases);
  processes = await startProcesses(databases.env, ['worker', 'web']);
});

afterAll(async () => {
  await processes?.stop();
  await store?.client.close();
  await databases?.close();
});

/** Every tenth event is invalid, and the texts are not ASCII. */
const eventsOf = (fields: object = {}) =>
  Array.from({ length: EVENTS }, (_, index) => ({
    ...(index % 10 !== 0 && { event_type: `é ${index % 3}` }),
    insert_id: `event ${index}`,
    event_properties: { place: index, text: 'ü'.repeat(200) },
    ...fields,
  }));

test.each([
  ['plain', {}, {}],
  ['compressed', {}, { 'Content-Encoding': 'gzip' }],
  ['with overridden clients', { ip: '198.51.100.7' }, {}],
])('a large body is stored and counts with its bytes, %s', async (_, fields, headers) => {
  const project = await createTestProject(databases);
  const body = Buffer.from(JSON.stringify({ events: eventsOf(fields) }));
  expect(body.length).toBeGreaterThan(Math.max(BOUNDS.loopBodyBytes, BYTES_PER_SECOND));
  const sent = await fetch(`${processes.url}/track`, {
    method: 'POST',
    headers: { 'X-API-Key': project.secretKey, ...headers },
    body: 'Content-Encoding' in headers ? gzipSync(body) : body,
  });
  expect([sent.status, await sent.json()]).toEqual([200, { accepted: EVENTS * 0.9 }]);
  // The bytes are above the limit of the project, which is settled with Redis every 50 ms.
  await eventually(async () => {
    const { status } = await track(processes.url, project.publicKey, { event_type: 'next' });
    expect(status).toBe(429);
  });
  await eventually(async () => {
    const rows = await store.rows(
      project.id,
      "toUInt32(countIf(event_type LIKE 'é _' AND lengthUTF8(ep_str['text']) = 200)) AS whole, sumIf(ep_num['place'], event_type != 'next') AS places",
    );
    const places = eventsOf().reduce(
      (sum, { event_type, event_properties }) => sum + (event_type ? event_properties.place : 0),
      0,
    );
    expect(rows).toEqual([{ whole: EVENTS * 0.9, places }]);
  });
});

test('a large body of an SDK is parsed once where the head has the key', async () => {
  const project = await createTestProject(databases);
  const events = eventsOf().map(({ event_properties: properties }) => ({ type: 'track', event: 'buy', properties }));
  const send = async (body: object, headers: Record<string, string>) => {
    const sent = await fetch(`${processes.url}/v1/batch`, { method: 'POST', headers, body: JSON.stringify(body) });
    expect([sent.status, await sent.json()]).toEqual([200, { success: true }]);
    const metrics = await (await fetch(`${processes.get('web').url}/metrics`)).text();
    return /^thread_tasks_total\{[^}]*"identifySenderTask"/m.test(metrics);
  };
  const head = { Authorization: `Basic ${Buffer.from(`${project.publicKey}:`).toString('base64')}` };
  expect(await send({ batch: events }, head)).toBe(false);
  const other = await createTestProject(databases);
  expect(await send({ batch: events, writeKey: other.publicKey }, {})).toBe(true);
});
