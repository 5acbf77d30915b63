// Migrations for a ClickHouse cluster: the engine parses every statement, and the local tables of a
// shard run here without replication.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ClickHouseClient, createClickHouse } from '../../src/platform/clickhouse/client.js';
import { CLUSTER_SETTINGS, localName, toClusterStatements } from '../../src/platform/clickhouse/cluster.js';
import { splitStatements } from '../../src/platform/clickhouse/migrate.js';
import { packageRoot } from '../../src/platform/paths.js';
import { createTestDatabases, type TestDatabases } from '../support/stack.js';

const folder = join(packageRoot, 'ops', 'clickhouse');
const originals = readdirSync(folder)
  .filter((name) => name.endsWith('.sql'))
  .sort()
  .flatMap((name) => splitStatements(readFileSync(join(folder, name), 'utf8')));
const statements = originals.flatMap((statement) => toClusterStatements(statement, 'main'));

let databases: TestDatabases;
let clickhouse: ClickHouseClient;

beforeAll(async () => {
  databases = await createTestDatabases();
  clickhouse = createClickHouse(databases.config);
});

afterAll(async () => {
  await clickhouse?.close();
  await databases?.close();
});

test('ClickHouse parses every statement and accepts every setting', async () => {
  for (const sql of statements) {
    await clickhouse
      .query({ query: 'SELECT formatQuery({sql:String})', query_params: { sql } })
      .then((answer) => answer.text());
  }
  const answer = await clickhouse.query({ query: 'SELECT 1', clickhouse_settings: CLUSTER_SETTINGS });
  expect((await answer.text()).trim()).toContain('1');
});

test('every statement is ON CLUSTER, and every distributed table has a local table', () => {
  for (const sql of statements) expect(sql).toContain("ON CLUSTER 'main'");
  const created = statements.flatMap((sql) => /^CREATE TABLE IF NOT EXISTS (\w+)/.exec(sql)?.[1] ?? []);
  const tables = originals.flatMap((sql) => /^CREATE TABLE IF NOT EXISTS (\w+)/.exec(sql)?.[1] ?? []);
  expect(tables.length).toBeGreaterThan(3);
  // The local table of events_landing is events_inbox_local, renamed.
  expect(created.sort()).toEqual([...tables.flatMap((name) => [name, localName(name)]), 'events_landing'].sort());
});

test('the local tables of a shard store a row once that is inserted twice', async () => {
  const local = statements
    .filter((sql) => !sql.includes('Distributed('))
    .map((sql) =>
      sql
        .replace("ON CLUSTER 'main'", '')
        .replace('Replicated', '')
        .replace('EXISTS events_dedup', 'EXISTS local_dedup'),
    );
  for (const query of local) await clickhouse.command({ query });
  const row = {
    project_id: '00000000-0000-7000-8000-000000000001',
    event_type: 'a',
    time: '2026-01-01 00:00:00',
    insert_id: 'i',
  };
  for (let time = 0; time < 2; time += 1) {
    await clickhouse.insert({ table: 'events_landing_local', values: [row], format: 'JSONEachRow' });
  }
  const answer = await clickhouse.query({ query: 'SELECT count() AS count FROM events_local', format: 'JSONEachRow' });
  expect(await answer.json()).toEqual([{ count: 1 }]);
});

test('toClusterStatements rejects a statement that has no cluster form', () => {
  expect(() => toClusterStatements('OPTIMIZE TABLE events', 'main')).toThrow('has no form on a cluster');
});
