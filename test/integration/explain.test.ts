// `npm run explain` with a service: how many people pass each call, asked of real processes over
// HTTP.
import { spawn } from 'node:child_process';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { NewProject } from '../../src/accounts/store.js';
import { eventually } from '../support/eventually.js';
import { createTestDatabases, type ProcessGroup, startProcesses, type TestDatabases } from '../support/stack.js';
import { createTestProject, openEventStore, track } from '../support/track.js';

let databases: TestDatabases;
let processes: ProcessGroup;
let project: NewProject;

const at = (hour: string) => `2026-11-02T${hour}:00Z`;
const purchase = (user_id: string, price: number, time: string) => ({
  ...{ event_type: 'purchase', user_id, time },
  event_properties: { price },
});
const EVENTS = [
  purchase('ann', 20, at('10:00')),
  purchase('ann', 30, at('11:00')),
  purchase('bob', 5, at('10:00')),
  // In Berlin an hour earlier than in UTC.
  { event_type: 'error', user_id: 'bob', session_id: 's', time: at('09:30') },
  { event_type: 'page_view', user_id: 'cat', time: at('12:00') },
  { event_type: 'purchase', user_id: 'dan', time: '2026-11-05T00:00:00Z', event_properties: { price: 99 } },
];

beforeAll(async () => {
  databases = await createTestDatabases();
  processes = await startProcesses(databases.env);
  project = await createTestProject(databases);
  await track(processes.url, project.secretKey, { events: EVENTS });
  const store = openEventStore(databases);
  await eventually(async () => expect(await store.count(project.id)).toBe(EVENTS.length));
  await store.client.close();
});

afterAll(async () => {
  await processes?.stop();
  await databases?.close();
});

async function explain(query: string, ...options: string[]): Promise<{ status: number | null; output: string }> {
  const child = spawn(process.execPath, ['dist/cli/explain.js', '--stage', 'calls', ...options, query], {
    env: { PATH: process.env.PATH, SERVICE_URL: processes.url, SERVICE_KEY: project.secretKey },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (text) => {
      output += text;
    });
  }
  return new Promise((resolve) => child.once('close', (status) => resolve({ status, output })));
}

const RANGE = 'from 2026-11-02 to 2026-11-04';

test('each call has its people, of those of the range', async () => {
  const where =
    'where count(purchase[price > 10]) >= 2 and (sum(purchase, price) < 50 or count(error per session_id) > 0)';
  expect(await explain(`* | ${RANGE} | ${where} | count`)).toEqual({
    status: 0,
    output: [
      '── calls ──',
      'count(purchase[price > 10]) >= 2: 1 of 3 people',
      'sum(purchase, price) < 50: 2 of 3 people',
      'count(error per session_id) > 0: 1 of 3 people\n\n',
    ].join('\n'),
  });
});

test('times of the calls are in the time zone', async () => {
  const query = `* | ${RANGE} | where count(error[time >= "2026-11-02 10:00"]) > 0`;
  expect((await explain(query)).output).toContain('> 0: 0 of 3 people');
  expect((await explain(query, '--timezone', 'Europe/Berlin')).output).toContain('> 0: 1 of 3 people');
});

test('without a key the queries are shown that count them', async () => {
  const { status, output } = await explain(`* | ${RANGE} | where count(purchase) > 1`, '--key', '');
  expect(status).toBe(0);
  expect(output).toContain(
    '* | from 2026-11-02T00:00:00.000Z to 2026-11-04T00:00:00.000Z | where count(purchase) > 1 | unique',
  );
});

test.each([
  ['a wrong key', ['--key', 'sk_wrong'], 'the service answers 401'],
  ['an address where nothing listens', ['--url', 'http://127.0.0.1:9'], 'fetch failed'],
])('%s is an error in one line', async (_, options, message) => {
  const { status, output } = await explain(`* | ${RANGE} | where count(purchase) > 1`, ...options);
  expect(status).toBe(1);
  expect(output).toContain(message);
  expect(output).not.toContain('at async');
});
