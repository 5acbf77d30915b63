// Durability of the embedded ClickHouse: acknowledged rows survive a kill and a second start on the
// same directory.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ClickHouseClient } from '@clickhouse/client';
import { afterAll, afterEach, expect, test } from 'vitest';
import { createClickHouse } from '../../src/platform/clickhouse/client.js';
import { type EmbeddedClickHouse, embeddedClickHouse } from '../../standalone/clickhouse-server.js';
import { findFreePort } from '../../standalone/free-port.js';
import { type ProcessObserver, SupervisedProcess } from '../../standalone/supervised-process.js';
import { eventually } from '../support/eventually.js';

const WRITERS = 4;
const ROWS_PER_INSERT = 100;

const directories: string[] = [];
const servers: SupervisedProcess[] = [];
const clients: ClickHouseClient[] = [];
/** What the servers of a test printed. */
let lines: string[] = [];

const observer: ProcessObserver = {
  line: (_name, line) => lines.push(line),
  started: () => {},
  ended: () => {},
  restarting: () => {},
};

afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  await Promise.all(servers.splice(0).map((server) => server.stop()));
  lines = [];
});

afterAll(() => {
  for (const directory of directories) rmSync(directory, { recursive: true, force: true });
});

function newDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'event-analytics-clickhouse-'));
  directories.push(directory);
  return directory;
}

async function configure(directory: string): Promise<EmbeddedClickHouse> {
  return embeddedClickHouse({ directory, port: await findFreePort(), password: 'password', database: 'analytics' });
}

async function start({ url, spec }: EmbeddedClickHouse): Promise<{
  readonly server: SupervisedProcess;
  readonly client: ClickHouseClient;
}> {
  const server = new SupervisedProcess(spec, observer);
  servers.push(server);
  await server.start();
  const client = createClickHouse({ CLICKHOUSE_URL: url, CLICKHOUSE_DATABASE: 'default' });
  clients.push(client);
  return { server, client };
}

async function createTable(client: ClickHouseClient): Promise<void> {
  await client.command({ query: 'CREATE DATABASE analytics' });
  await client.command({
    query: 'CREATE TABLE analytics.written (writer UInt8, n UInt64) ENGINE = MergeTree ORDER BY (writer, n)',
  });
}

async function rowsOf<T>(client: ClickHouseClient, query: string): Promise<T[]> {
  return (await client.query({ query, format: 'JSONEachRow' })).json<T>();
}

const killHard = (server: SupervisedProcess): boolean => process.kill(server.pid ?? 0, 'SIGKILL');

/** Inserts one block after the other until one fails. Returns how many were acknowledged. */
async function write(client: ClickHouseClient, writer: number, isAcknowledged: () => void): Promise<number> {
  for (let block = 0; ; block += 1) {
    const values = Array.from({ length: ROWS_PER_INSERT }, (_, n) => ({ writer, n: block * ROWS_PER_INSERT + n }));
    try {
      await client.insert({ table: 'analytics.written', values, format: 'JSONEachRow' });
    } catch {
      return block;
    }
    isAcknowledged();
  }
}

test('ClickHouse starts again by itself after its configuration was deleted', { timeout: 180_000 }, async () => {
  const directory = newDirectory();
  const { server, client } = await start(await configure(directory));
  await createTable(client);
  await client.insert({ table: 'analytics.written', values: [{ writer: 1, n: 1 }], format: 'JSONEachRow' });
  rmSync(join(directory, 'config.xml'));
  killHard(server);
  await eventually(
    async () => expect(await rowsOf(client, 'SELECT writer FROM analytics.written')).toEqual([{ writer: 1 }]),
    120_000,
  );
});

test('a kill during inserts loses no acknowledged row and leaves no partial insert', async () => {
  const { client, server } = await start(await configure(newDirectory()));
  await createTable(client);
  let count = 0;
  const acknowledged = Promise.all(
    Array.from({ length: WRITERS }, (_, writer) =>
      write(client, writer, () => {
        count += 1;
        if (count === 40) killHard(server);
      }),
    ),
  );
  const blocks = await acknowledged;
  await eventually(() => client.command({ query: 'SELECT 1' }));

  const found = await rowsOf<{ writer: number; rows: number; numbers: number; last: number }>(
    client,
    `SELECT writer, toUInt32(count()) AS rows, toUInt32(uniqExact(n)) AS numbers, toUInt32(max(n) + 1) AS last
     FROM analytics.written GROUP BY writer ORDER BY writer`,
  );
  expect(found.map(({ writer }) => writer)).toEqual([0, 1, 2, 3]);
  for (const { writer, rows, numbers, last } of found) {
    const whole = (blocks[writer] ?? 0) * ROWS_PER_INSERT;
    // The insert that was running may have been stored without being acknowledged.
    expect([whole, whole + ROWS_PER_INSERT]).toContain(rows);
    expect([numbers, last]).toEqual([rows, rows]);
  }
});

test('a second server on the same directory exits with a message, and the first continues', async () => {
  const directory = newDirectory();
  const { client, server } = await start(await configure(directory));
  await createTable(client);
  await expect(start(await configure(directory))).rejects.toThrow('clickhouse did not start: it ended with status 1.');
  expect(lines.join()).toMatch(/DB::Exception: .*Another server instance in same directory is already running/);

  await client.insert({ table: 'analytics.written', values: [{ writer: 1, n: 1 }], format: 'JSONEachRow' });
  expect(await rowsOf(client, 'SELECT * FROM analytics.written')).toEqual([{ writer: 1, n: 1 }]);
  await client.close();
  await server.stop();
  const again = await start(await configure(directory));
  expect(await rowsOf(again.client, 'SELECT * FROM analytics.written')).toEqual([{ writer: 1, n: 1 }]);
});
