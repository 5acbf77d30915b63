// Shutdown under load: all processes get SIGTERM at once, as in a deploy. In-flight requests are
// answered, no connection breaks, every process ends before its own deadline (lifecycle.ts), and
// nothing acknowledged is lost.
import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { NewProject } from '../../src/accounts/store.js';
import { createIngestQueue } from '../../src/ingest/queue.js';
import { createRedis } from '../../src/platform/redis/client.js';
import { eventually } from '../support/eventually.js';
import { createTestDatabases, type ProcessGroup, startProcesses, type TestDatabases } from '../support/stack.js';
import { createTestProject, type EventStore, openEventStore } from '../support/track.js';

const CLIENTS = 16;

let databases: TestDatabases;
let processes: ProcessGroup;
let store: EventStore;
let project: NewProject;

beforeAll(async () => {
  databases = await createTestDatabases();
  store = openEventStore(databases);
  project = await createTestProject(databases);
  processes = await startProcesses(databases.env);
});

afterAll(async () => {
  await processes?.stop();
  await store?.client.close();
  await databases?.close();
});

/** Sends over a keep-alive connection. Rejects with the error code of the connection. */
const post = (agent: Agent, path: string, body: object): Promise<{ status: number; text: string }> =>
  new Promise((resolve, reject) => {
    const headers = { 'Content-Type': 'application/json', 'X-API-Key': project.secretKey };
    // A connection that the server has not accepted yet is reset with its listening socket, which
    // counts as refused.
    const fail = ({ code }: Error & { code?: string }) =>
      reject(new Error(code === 'ECONNRESET' && !sent.reusedSocket ? 'ECONNREFUSED' : code));
    const sent = request(processes.url + path, { method: 'POST', headers, agent }, (response) => {
      let text = '';
      response.on('data', (chunk) => {
        text += chunk;
      });
      response.on('error', fail);
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
    sent.on('error', fail);
    sent.end(JSON.stringify(body));
  });

/** Sends until the connection is refused, and resolves with the error code. */
async function untilRefused(send: (agent: Agent, number: number) => Promise<void>): Promise<string> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  try {
    for (let number = 0; ; number += 1) await send(agent, number);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    agent.destroy();
  }
}

test('SIGTERM to all processes under load breaks no connection and loses no acknowledged event', {
  timeout: 240_000,
}, async () => {
  const acknowledged: string[] = [];
  const statuses = { '/track': new Set<number>(), '/query': new Set<number>() };
  const tracking = Array.from({ length: CLIENTS }, (_, client) =>
    untilRefused(async (agent, number) => {
      const ids = Array.from({ length: 100 }, (_, index) => `e-${client}-${number}-${index}`);
      const events = ids.map((insert_id) => ({ event_type: 'a', insert_id, user_id: `u-${client}` }));
      const { status } = await post(agent, '/track', { events });
      statuses['/track'].add(status);
      if (status === 200) acknowledged.push(...ids);
    }),
  );
  const asking = Array.from({ length: 2 }, () =>
    untilRefused(async (agent) => {
      const { status, text } = await post(agent, '/query', {
        q: '* | where insert_id ~ "9$" | unique',
        format: 'json',
      });
      expect(JSON.parse(text)).toHaveProperty(status === 200 ? 'rows' : 'error');
      statuses['/query'].add(status);
    }),
  );
  await eventually(() => expect(acknowledged.length).toBeGreaterThan(5_000), 30_000);
  await delay(500);

  // At its deadline a process exits with 1.
  const stopped = await Promise.all(['web', 'query', 'worker'].map((name) => processes.get(name).kill('SIGTERM')));
  expect(stopped).toEqual([0, 0, 0]);
  expect(new Set(await Promise.all([...tracking, ...asking]))).toEqual(new Set(['ECONNREFUSED']));
  expect([...statuses['/track']]).toEqual([200]);
  // 503 comes from a web process that still listens when the query process does not.
  expect([...statuses['/query']].filter((status) => status !== 200 && status !== 503)).toEqual([]);

  const redis = createRedis(databases.config);
  const queue = createIngestQueue(redis);
  expect(await queue.getActiveCount()).toBe(0);
  await queue.close();
  redis.disconnect();
  await processes.start('worker');
  await eventually(async () => expect(await store.count(project.id)).toBe(acknowledged.length), 120_000);
  const stored = await store.rows<{ id: string }>(project.id, 'insert_id AS id');
  expect(stored.map(({ id }) => id).sort()).toEqual([...acknowledged].sort());
});
