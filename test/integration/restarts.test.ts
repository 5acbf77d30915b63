// Restarts as an operator sees them: the first request of a new web process, and the log of a
// worker that ends while ClickHouse is unavailable.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { packageRoot } from '../../src/platform/paths.js';
import { createPostgres } from '../../src/platform/postgres/client.js';
import { createTeam, createTeamProject } from '../support/accounts.js';
import { eventually } from '../support/eventually.js';
import { createTestDatabases, startProcesses, type TestDatabases } from '../support/stack.js';
import { startStoreRelay } from '../support/store-relay.js';
import { takePort } from '../support/take-port.js';

let databases: TestDatabases;
let key: string;

beforeAll(async () => {
  databases = await createTestDatabases({ LOG_LEVEL: 'info' });
  const postgres = createPostgres(databases.config);
  const { organization } = await createTeam(postgres);
  key = (await createTeamProject(postgres, databases, organization.id)).secretKey;
  await postgres.destroy();
});

afterAll(() => databases?.close());

async function track(url: string): Promise<[status: number, text: string]> {
  const response = await fetch(`${url}/track`, {
    method: 'POST',
    headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
    body: JSON.stringify({ event_type: 'a' }),
  });
  return [response.status, await response.text()];
}

test('web listens when it can use Redis: its first request is accepted', async () => {
  const relay = await startStoreRelay(String(databases.env.REDIS_URL));
  // The client can be used after several answers.
  relay.delay(300);
  const port = await takePort();
  const web = spawn(process.execPath, ['dist/processes/web.js'], {
    cwd: packageRoot,
    env: { PATH: process.env.PATH, ...databases.env, REDIS_URL: relay.url, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exit = once(web, 'exit');
  try {
    for await (const line of createInterface({ input: web.stdout })) if (line.includes('"msg":"ready"')) break;
    expect(await track(`http://127.0.0.1:${port}`)).toEqual([200, '{"accepted":1}']);
  } finally {
    web.kill();
    await exit;
    await relay.close();
  }
});

test('a worker that ends while ClickHouse is unavailable logs one warning for all waiting jobs', async () => {
  const relay = await startStoreRelay(String(databases.env.CLICKHOUSE_URL));
  const processes = await startProcesses({ ...databases.env, CLICKHOUSE_URL: relay.url }, ['web', 'worker']);
  try {
    const worker = processes.get('worker');
    const messages = () => worker.output.map((line) => JSON.parse(line) as { level: number; msg: string });
    await relay.cut();
    for (let jobs = 0; jobs < 20; jobs += 1) expect(await track(processes.url)).toEqual([200, '{"accepted":1}']);
    await eventually(() =>
      expect(messages()).toContainEqual(expect.objectContaining({ msg: 'an insert failed; trying again' })),
    );
    await worker.kill('SIGTERM');
    const ofJobs = messages().filter(({ msg }) => msg.startsWith('an ingest job'));
    expect(ofJobs).toEqual([expect.objectContaining({ level: 40, msg: 'an ingest job failed and runs again' })]);
  } finally {
    await processes.stop();
    await relay.close();
  }
});
