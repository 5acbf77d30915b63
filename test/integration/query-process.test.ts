// The query process of the Procfile: readiness and shutdown.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { NewProject } from '../../src/accounts/store.js';
import { createClickHouse } from '../../src/platform/clickhouse/client.js';
import {
  createTestDatabases,
  type ProcessGroup,
  startProcesses,
  type TestDatabases,
  type TestProcess,
} from '../support/stack.js';
import { createTestProject } from '../support/track.js';

let databases: TestDatabases;
let processes: ProcessGroup;
let query: TestProcess;
let project: NewProject;

beforeAll(async () => {
  databases = await createTestDatabases();
  project = await createTestProject(databases);
  const clickhouse = createClickHouse(databases.config);
  // Enough rows for a query that takes a moment.
  await clickhouse.command({
    query: `INSERT INTO events (project_id, event_type, time, insert_id, user_id)
      SELECT {project:UUID}, 'tick', now64(3) - number % 1000000, toString(number), toString(number % 100000)
      FROM numbers(300000)`,
    query_params: { project: project.id },
  });
  await clickhouse.close();
  processes = await startProcesses(databases.env, ['query']);
  query = processes.get('query');
});

afterAll(async () => {
  await processes?.stop();
  await databases?.close();
});

// Without keep-alive, because the process waits for open connections when it stops.
const ask = (q: string, key = project.secretKey): Promise<Response> =>
  fetch(`${query.url}/query`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': key, connection: 'close' },
    body: JSON.stringify({ q, format: 'json' }),
  });

describe('the query process', () => {
  test('answers /healthz and /readyz', async () => {
    const texts = await Promise.all(
      ['/healthz', '/readyz'].map(async (path) => (await fetch(query.url + path)).text()),
    );
    expect(texts).toEqual(['ok', 'ready']);
  });

  test('answers a secret key and refuses a public key', async () => {
    const answered = await ask('tick | count | last 30d');
    expect(await answered.json()).toMatchObject({ rows: [{ count: 300_000, value: 300_000, metric: 'count' }] });
    expect((await ask('tick | count', project.publicKey)).status).toBe(403);
  });

  test('has no other routes', async () => {
    const response = await fetch(`${query.url}/track`, { method: 'POST' });
    expect(response.status).toBe(404);
    expect(await response.json()).toEqual({ error: expect.any(String) });
  });

  test('finishes running requests after SIGTERM', async () => {
    const answering = ask('* | where insert_id ~ "^[1-9]*[0-8]$" | count by distinct_id | last 30d');
    await new Promise((resolve) => setTimeout(resolve, 50));
    const ended = query.kill('SIGTERM');
    const answered = await answering;
    expect(answered.status).toBe(200);
    expect(await answered.json()).toMatchObject({ total: expect.any(Number) });
    await ended;
    expect(query.isRunning).toBe(false);
  });
});
