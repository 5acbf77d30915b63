// Migrations of a replica that begins empty beside another, as after the loss of its disk: it gets
// the tables that the other has now. Replicas need Keeper: these servers copy nothing.
import { ClickHouseError } from '@clickhouse/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ClickHouseClient, createClickHouse } from '../../src/platform/clickhouse/client.js';
import { copyTables } from '../../src/platform/clickhouse/copy-tables.js';
import { migrateShard } from '../../src/platform/clickhouse/migrate.js';
import { type ExtraEngine, startExtraEngine } from '../support/extra-engine.js';
import { createTestDatabases, type TestDatabases } from '../support/stack.js';

let databases: TestDatabases;
let other: ExtraEngine;
let full: ClickHouseClient;
let empty: ClickHouseClient;

beforeAll(async () => {
  [databases, other] = await Promise.all([createTestDatabases(), startExtraEngine()]);
  full = createClickHouse(databases.config);
  empty = createClickHouse({ ...databases.config, CLICKHOUSE_URL: other.url });
}, 120_000);

afterAll(async () => {
  await full?.close();
  await empty?.close();
  await other?.remove();
  await databases?.close();
});

async function rowsOf(clickhouse: ClickHouseClient, query: string): Promise<unknown[]> {
  return (await clickhouse.query({ query, format: 'JSONEachRow' })).json();
}

const tablesOf = (clickhouse: ClickHouseClient) =>
  rowsOf(clickhouse, 'SELECT create_table_query FROM system.tables WHERE database = currentDatabase() ORDER BY name');

const migrate = () =>
  migrateShard({ id: 5, urls: [databases.config.CLICKHOUSE_URL, other.url] }, databases.config.CLICKHOUSE_DATABASE);

test('an empty replica gets the tables of another, also when that was interrupted', async () => {
  await full.command({ query: 'ALTER TABLE profiles MODIFY SETTING remove_empty_parts = 0' });
  expect(await migrate()).toEqual({ applied: new Set(), failed: [] });
  expect(await tablesOf(empty)).toEqual(await tablesOf(full));
  const names = 'SELECT name FROM schema_migrations ORDER BY name';
  expect(await rowsOf(empty, names)).toEqual(await rowsOf(full, names));

  for (const query of ['DROP VIEW events_dedup SYNC', 'DROP TABLE profiles SYNC', 'TRUNCATE TABLE schema_migrations'])
    await empty.command({ query });
  expect(await migrate()).toEqual({ applied: new Set(), failed: [] });
  expect(await tablesOf(empty)).toEqual(await tablesOf(full));
});

test('a replica that Keeper still knows is named', async () => {
  const known = new ClickHouseError({ message: 'Replica already exists', code: '253' });
  const refusing = { command: () => Promise.reject(known) } as unknown as ClickHouseClient;
  await expect(copyTables(full, refusing)).rejects.toThrow('SYSTEM DROP REPLICA');
});
