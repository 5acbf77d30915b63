// Large answers to queries whose clients do not read them: one project fills its share of the
// memory for answers, and no more.
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { NewProject } from '../../src/accounts/store.js';
import { createClickHouse } from '../../src/platform/clickhouse/client.js';
import { eventually } from '../support/eventually.js';
import { createTestDatabases, type ProcessGroup, startProcesses, type TestDatabases } from '../support/stack.js';
import { createTestProject } from '../support/track.js';

const ROWS = 4000;
/** With 24 MB an answer, eight are three quarters of the 256 MiB that a process holds. */
const ROW_BYTES = 6000;
const ANSWERS_HELD = 8;
const BODY = JSON.stringify({ q: 'large | list event_properties.text | last 7d', format: 'json', limit: ROWS });

let databases: TestDatabases;
let processes: ProcessGroup;
let project: NewProject;
let neighbour: NewProject;

beforeAll(async () => {
  databases = await createTestDatabases();
  [project, neighbour] = [await createTestProject(databases), await createTestProject(databases)];
  processes = await startProcesses(databases.env, ['web', 'query']);
  await store(project);
  await store(neighbour);
});

afterAll(async () => {
  await processes?.stop();
  await databases?.close();
});

async function store({ id }: NewProject): Promise<void> {
  const clickhouse = createClickHouse(databases.config);
  await clickhouse.command({
    query: `INSERT INTO events (project_id, event_type, time, insert_id, user_id, ep_str)
      SELECT {project:UUID}, 'large', now64(3) - number / 1000, toString(number), 'u', map('text', repeat('x', ${ROW_BYTES}))
      FROM numbers(${ROWS})`,
    query_params: { project: id },
    clickhouse_settings: { max_block_size: '1000' },
  });
  await clickhouse.close();
}

/** Reads the first bytes of the answer, and no more. */
function askWithoutReading({ secretKey }: NewProject): Promise<{ socket: Socket; head: string }> {
  const { hostname, port } = new URL(processes.url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    socket.once('error', reject);
    socket.once('data', (chunk: Buffer) => {
      socket.pause();
      socket.off('error', reject).on('error', () => {});
      resolve({ socket, head: chunk.toString('latin1', 0, 1000) });
    });
    const headers = ['Host: x', `X-API-Key: ${secretKey}`, `Content-Length: ${BODY.length}`];
    socket.write(['POST /query HTTP/1.1', ...headers, '', BODY].join('\r\n'));
  });
}

async function statusOfAnswer({ secretKey }: NewProject): Promise<number> {
  const headers = { 'X-API-Key': secretKey };
  const response = await fetch(`${processes.url}/query`, { method: 'POST', headers, body: BODY });
  await response.text();
  return response.status;
}

test('unread answers of one project use its share of memory, further ones get 429, and those of others are answered', async () => {
  const asked: Awaited<ReturnType<typeof askWithoutReading>>[] = [];
  for (let count = 0; count < ANSWERS_HELD; count++) asked.push(await askWithoutReading(project));
  expect(asked.filter(({ head }) => !head.startsWith('HTTP/1.1 200 '))).toEqual([]);
  const refused = await askWithoutReading(project);
  expect(refused.head).toMatch(/^HTTP\/1.1 429 .*"too many bytes of answers wait to be read/s);
  expect(await statusOfAnswer(neighbour)).toBe(200);
  for (const { socket } of [...asked, refused]) socket.destroy();
  await eventually(async () => expect(await statusOfAnswer(project)).toBe(200));
}, 120_000);
