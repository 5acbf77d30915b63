// Forwarding of queries: web passes them to the query process, and answers 503 while it is
// unavailable.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { NewProject } from '../../src/accounts/store.js';
import { eventually } from '../support/eventually.js';
import { createTestDatabases, type ProcessGroup, startProcesses, type TestDatabases } from '../support/stack.js';
import { createTestProject, track } from '../support/track.js';

let databases: TestDatabases;
let processes: ProcessGroup;
let project: NewProject;

beforeAll(async () => {
  databases = await createTestDatabases();
  project = await createTestProject(databases);
  processes = await startProcesses(databases.env);
});

afterAll(async () => {
  await processes?.stop();
  await databases?.close();
});

async function ask(
  q: string,
  key = project.secretKey,
  url = processes.url,
): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await fetch(`${url}/query`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-API-Key': key },
    body: JSON.stringify({ q, format: 'json' }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

test('web counts an event that it accepted, through the query process', async () => {
  expect(await track(processes.url, project.publicKey, { event_type: 'signup', device_id: 'd' })).toMatchObject({
    status: 200,
  });
  await eventually(async () => {
    const { status, body } = await ask('signup | last 1h | count');
    expect(status).toBe(200);
    expect(body.rows).toEqual([{ count: 1, value: 1, metric: 'count' }]);
  });
});

test('web forwards errors of the query process unchanged', async () => {
  expect(await ask('signup | count by _contry')).toMatchObject({
    status: 400,
    body: { details: [{ line: 1, column: 19, length: 7 }] },
  });
  expect(await ask('signup', project.publicKey)).toMatchObject({ status: 403 });
  expect(await ask('signup', 'nonsense')).toMatchObject({ status: 401 });
});

test('web does not forward paths below /query', async () => {
  const response = await fetch(`${processes.url}/query/anything`, { method: 'POST' });
  expect(response.status).toBe(404);
});

test('web answers 503 while the query process is down, and accepts events throughout', async () => {
  await processes.get('query').kill('SIGKILL');
  const { status, body } = await ask('signup | count');
  expect(status).toBe(503);
  expect(body.error).toMatch(/try again/);
  expect(await track(processes.url, project.publicKey, { event_type: 'signup', device_id: 'd' })).toMatchObject({
    body: { accepted: 1 },
  });
  await processes.start('query');
  await eventually(async () => {
    expect((await ask('signup | last 1h | count')).body.rows).toEqual([{ count: 2, value: 2, metric: 'count' }]);
  });
});

test('web without QUERY_URL answers queries itself', async () => {
  const alone = await startProcesses({ ...databases.env, QUERY_URL: '' }, ['web']);
  try {
    const { status, body } = await ask('signup | last 1h | count', project.secretKey, alone.url);
    expect({ status, rows: body.rows }).toEqual({ status: 200, rows: [{ count: 2, value: 2, metric: 'count' }] });
  } finally {
    await alone.stop();
  }
});
