// The tables of src/privacy/personal-data.ts, compared with the schemas of both databases: every
// table is in that list, or in NOT_LISTED with the reason.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ClickHouseClient, createClickHouse } from '../../src/platform/clickhouse/client.js';
import { createPostgres, type Postgres } from '../../src/platform/postgres/client.js';
import { CLICKHOUSE_TABLES, POSTGRES_TABLES } from '../../src/privacy/personal-data.js';
import { createTestDatabases, type TestDatabases } from '../support/stack.js';

const NOT_LISTED = {
  clickhouse: {
    events_landing: 'stores no rows',
    events_dedup: 'a view',
    schema_migrations: 'names of migrations',
  },
  postgres: {
    alert_checks: 'numbers; deleted by the database with their alert',
    dashboard_versions: 'deleted by the database with their dashboard',
    definition_versions: 'deleted by the database with the definitions',
    domains: 'of an organization',
    erasure_tombstones: 'hashes of erased ids',
    invitations: 'of an organization',
    members: 'of an organization',
    organizations: 'names of organizations',
    project_placements: 'on which server a project lives',
    project_traces: 'on which servers a project has been',
    shards: 'addresses of servers',
    shard_writers: 'locks of ingest partitions',
    people: 'those who sign in, not those who are measured',
    projects: 'names and keys, kept as a record of the organization',
    schema_migrations: 'names of migrations',
    schema_migrations_lock: 'of the migrations',
    sessions: 'of people who sign in',
    usage_days: 'counts, kept as a record of the organization',
  },
} as const;

let databases: TestDatabases;
let clickhouse: ClickHouseClient;
let postgres: Postgres;

beforeAll(async () => {
  databases = await createTestDatabases();
  clickhouse = createClickHouse(databases.config);
  postgres = createPostgres(databases.config);
});

afterAll(async () => {
  await clickhouse?.close();
  await postgres?.destroy();
  await databases?.close();
});

/** Columns by table. */
function byTable(rows: readonly { readonly table: string; readonly column: string }[]): Map<string, string[]> {
  const tables = new Map<string, string[]>();
  for (const { table, column } of rows) tables.set(table, [...(tables.get(table) ?? []), column]);
  return tables;
}

test('every ClickHouse table is listed, with existing columns', async () => {
  const result = await clickhouse.query({
    query: 'SELECT table, name AS column FROM system.columns WHERE database = currentDatabase()',
    format: 'JSONEachRow',
  });
  const tables = byTable(await result.json());
  const listed = CLICKHOUSE_TABLES.map(({ name }) => name);
  expect([...tables.keys()].sort()).toEqual([...listed, ...Object.keys(NOT_LISTED.clickhouse)].sort());
  for (const { name, columns } of CLICKHOUSE_TABLES) {
    const named = Object.values(columns).flatMap(({ hash, id }) => [hash, id]);
    expect(tables.get(name)).toEqual(expect.arrayContaining([...named, 'project_id']));
  }
});

test('every PostgreSQL table is listed, and those deleted with a project have project_id', async () => {
  const { rows } = await postgres.raw(
    "SELECT table_name AS table, column_name AS column FROM information_schema.columns WHERE table_schema = 'public'",
  );
  const tables = byTable(rows);
  const listed = POSTGRES_TABLES.map(({ name }) => name);
  expect([...tables.keys()].sort()).toEqual([...listed, ...Object.keys(NOT_LISTED.postgres)].sort());
  for (const { name, isDeletedWithProject } of POSTGRES_TABLES) {
    if (isDeletedWithProject) expect(tables.get(name)).toContain('project_id');
  }
});
