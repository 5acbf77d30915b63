// Ctrl-C of `npm run migrate` in the middle of PostgreSQL's and of ClickHouse's migrations: the
// same command goes on, and the databases are those of a run without an interruption. So are those
// of the first form of a migration that was changed after it had been applied. Of several first
// runs at once, one applies the migrations.
import { type ChildProcess, spawn } from 'node:child_process';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ClickHouseClient, createClickHouse } from '../../src/platform/clickhouse/client.js';
import { migrateShards } from '../../src/platform/clickhouse/migrate.js';
import { packageRoot } from '../../src/platform/paths.js';
import { createPostgres, type Postgres } from '../../src/platform/postgres/client.js';
import { applyMigrations, migratePostgres } from '../../src/platform/postgres/migrate.js';
import { StepProgress } from '../../src/platform/progress.js';
import { UsageError } from '../../src/platform/usage-error.js';
import { eventually } from '../support/eventually.js';
import { createEmptyDatabases, createTestDatabases, type TestDatabases } from '../support/stack.js';
import { type StoreRelay, startStoreRelay } from '../support/store-relay.js';

/** Changes the table `projects`. */
const POSTGRES_MIGRATION = '0021_other_sdks';
/** The only one of a file, two in the middle of the next, the last of a third. */
const STATEMENTS = [
  'ALTER TABLE events ADD INDEX IF NOT EXISTS mm_received_at',
  'DROP VIEW IF EXISTS events_dedup',
  'ALTER TABLE events RENAME COLUMN IF EXISTS uid',
  'ALTER TABLE profiles MATERIALIZE COLUMN props_types',
] as const;
const SIX_RUNS = { timeout: 360_000 };
// Progress stands above it when a run takes long.
const INTERRUPTED = {
  status: 130,
  said: expect.stringContaining('interrupted; run the same command again: it goes on with what is left\n'),
};

let databases: TestDatabases;
let complete: TestDatabases;
let postgres: Postgres;
let relay: StoreRelay;
/** Names of all migrations of PostgreSQL. */
let all: readonly string[];

beforeAll(async () => {
  databases = await createEmptyDatabases();
  complete = await createTestDatabases();
  const reference = createPostgres(complete.config);
  all = await migrationsOf(reference);
  await reference.destroy();
  postgres = createPostgres(databases.config);
  relay = await startStoreRelay(databases.config.CLICKHOUSE_URL);
});

afterAll(async () => {
  await relay?.close();
  await postgres?.destroy();
  for (const each of [databases, complete]) await each?.close();
});

interface Run {
  readonly child: ChildProcess;
  readonly ended: Promise<{ status: number | null; said: string }>;
}

function migrate(): Run {
  const child = spawn(process.execPath, ['dist/src/platform/migrate.js'], {
    cwd: packageRoot,
    env: { PATH: process.env.PATH, ...databases.env, CLICKHOUSE_URL: relay.url },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  return { child, ended: new Promise((resolve) => child.once('close', (status) => resolve({ status, said }))) };
}

async function interrupt({ child, ended }: Run): Promise<unknown> {
  child.kill('SIGINT');
  return ended;
}

const migrationsOf = async (client: Postgres): Promise<string[]> =>
  client('schema_migrations').orderBy('name').pluck('name');

const findMigration = (names: readonly string[]): number =>
  names.findIndex((name) => name.startsWith(POSTGRES_MIGRATION));

/** Statements that create its tables, without its name. */
async function tablesOf({ config }: TestDatabases): Promise<string[]> {
  const clickhouse: ClickHouseClient = createClickHouse(config);
  const query = 'SELECT create_table_query FROM system.tables WHERE database = currentDatabase() ORDER BY name';
  const result = await clickhouse.query({ query, format: 'JSONCompactEachRow' });
  const rows = await result.json<[string]>();
  await clickhouse.close();
  return rows.map(([statement]) => statement.replaceAll(config.CLICKHOUSE_DATABASE, 'database'));
}

test('Ctrl-C of npm run migrate leaves databases with which the same command goes on', SIX_RUNS, async () => {
  const applied = all.slice(0, findMigration(all));
  await applyMigrations(databases.config, applied);

  const other = await postgres.transaction();
  await other.raw('LOCK TABLE projects');
  const waiting = migrate();
  await eventually(async () => {
    const waitsForLock = { datname: databases.config.CLICKHOUSE_DATABASE, wait_event_type: 'Lock' };
    expect(await postgres('pg_stat_activity').where(waitsForLock)).toHaveLength(1);
  });
  expect(await interrupt(waiting)).toEqual(INTERRUPTED);
  await other.rollback();
  expect(await migrationsOf(postgres)).toEqual(applied);

  for (const statement of STATEMENTS) {
    const sent = relay.silenceAt(statement);
    const run = migrate();
    await sent;
    expect(await interrupt(run)).toEqual(INTERRUPTED);
    await relay.restore();
  }
  expect(await migrate().ended).toMatchObject({ status: 0 });
  expect(await migrationsOf(postgres)).toEqual(all);
  expect(await tablesOf(databases)).toEqual(await tablesOf(complete));
});

test('of several first runs at once, one applies the migrations', { timeout: 120_000 }, async () => {
  const empty = await createEmptyDatabases();
  const lines: string[] = [];
  const screen = { write: (line: string) => void lines.push(line) };
  const run = () => migratePostgres(empty.config, new StepProgress(screen));
  const runs = await Promise.all(Array.from({ length: 4 }, run));
  expect(runs.filter((applied) => applied.length > 0)).toEqual([all]);
  expect(lines).toContain('waiting for another process that migrates PostgreSQL\n');
  await empty.close();
});

test('progress names the migrations of PostgreSQL that are applied', { timeout: 360_000 }, async () => {
  const earlier = await createEmptyDatabases();
  const client = createPostgres(earlier.config);
  const first = findMigration(all);
  await applyMigrations(earlier.config, all.slice(0, first));
  const other = await client.transaction();
  await other.raw('LOCK TABLE projects');
  const bars: string[] = [];
  const screen = { isTTY: true, columns: 200, write: (text: string) => void bars.push(text) };
  const migrated = migratePostgres(earlier.config, new StepProgress(screen));
  try {
    await eventually(() => expect(bars.join('')).toMatch(/ 0 % {2}migrating PostgreSQL {2}0 migrations /));
  } finally {
    await other.rollback();
  }
  expect(await migrated).toEqual(all.slice(first));
  await client.destroy();
  await earlier.close();
});

/** Columns of its tables: types, defaults, and whether the planner keeps values of them. */
async function columnsOf(client: Postgres): Promise<unknown> {
  const { rows } = await client.raw(
    `SELECT relname, attname, format_type(atttypid, atttypmod), attnotnull, pg_get_expr(adbin, adrelid),
       COALESCE(attstattarget, -1) AS target
     FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
       LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
     WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND attnum > 0 AND NOT attisdropped
     ORDER BY relname, attname`,
  );
  return rows;
}

test('a database of the first form of 0004_privacy gets the later one', { timeout: 120_000 }, async () => {
  const earlier = await createEmptyDatabases();
  const [client, reference] = [createPostgres(earlier.config), createPostgres(complete.config)];
  const last = '0032_privacy_form';
  await applyMigrations(
    earlier.config,
    all.filter((name) => !name.startsWith(last)),
  );
  await client.raw('ALTER TABLE erasure_requests DROP COLUMN profile_version');
  await client.raw('ALTER TABLE device_mappings ALTER COLUMN device_id SET STATISTICS -1');
  await client.raw('ALTER TABLE erasure_requests ALTER COLUMN device_ids SET STATISTICS -1');
  const device = { project_id: '00000000-0000-7000-8000-000000000001', device_id: 'd', user_id: 'u' };
  await client('device_mappings').insert([
    { ...device, seq: 1 },
    { ...device, seq: 2 },
  ]);
  await client.raw('ANALYZE device_mappings');
  const quoted = () => client('pg_stats').where({ tablename: 'device_mappings', attname: 'device_id' });
  expect(await quoted()).toHaveLength(1);

  expect(await migratePostgres(earlier.config)).toEqual([expect.stringContaining(last)]);
  expect(await columnsOf(client)).toEqual(await columnsOf(reference));
  expect(await quoted()).toEqual([]);
  expect(await client('device_mappings').pluck('device_id')).toEqual(['d', 'd']);
  await Promise.all([client.destroy(), reference.destroy()]);
  await earlier.close();
});

test('data of a newer version is refused in one line that names it', { timeout: 120_000 }, async () => {
  const says = (store: string, name: string) =>
    `${store} has data of a newer version of the service (this one does not know ${name}): run that version, or restore a backup with this one into an empty DATA_DIR\n`;
  expect(await migrate().ended).toMatchObject({ status: 0 });
  const clickhouse = createClickHouse(databases.config);
  await clickhouse.insert({ table: 'schema_migrations', values: [{ name: '9999_next.sql' }], format: 'JSONEachRow' });
  await clickhouse.close();
  expect(await migrate().ended).toEqual({ status: 1, said: says('ClickHouse', '9999_next.sql') });

  await postgres('schema_migrations').insert({ name: '9999_next.js', batch: 2, migration_time: new Date() });
  expect(await migrate().ended).toEqual({ status: 1, said: says('PostgreSQL', '9999_next') });
});

test('a lost shard that there is none of is refused', async () => {
  const refused = expect(migrateShards(complete.config, { lost: 9 })).rejects;
  await refused.toThrow(new UsageError('there is no shard 9'));
});
