// Applies the migrations ops/clickhouse/*.sql in order of their numbers, once on each host. Every
// host remembers in a table of its own what was applied to it, so a run continues where an earlier
// one stopped. The hosts of a shard take each file together: a replica joins a table that has the
// same columns. One that has nothing yet beside others takes their tables instead.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { NewerData } from '../newer-data.js';
import { packageRoot } from '../paths.js';
import { type Postgres, type PostgresSettings, withPostgres } from '../postgres/client.js';
import type { StepProgress } from '../progress.js';
import { UsageError } from '../usage-error.js';
import { type ClickHouseSettings, rowsOf, withClient } from './client.js';
import { copyTables } from './copy-tables.js';
import { inOneLine } from './failures.js';
import { findLoss } from './lost-shard.js';
import { watchRewrites } from './rewrites.js';
import { FIRST_SHARD, listShards, urlsOf } from './shards.js';

const FOLDER = join(packageRoot, 'ops', 'clickhouse');

export interface ShardHosts {
  readonly id: number;
  /** One URL per host; several hosts are replicas of each other. */
  readonly urls: readonly string[];
}

/** How the tables of a shard are stored. */
export interface TableLayout {
  readonly shard: number;
  readonly isReplicated: boolean;
}

/** `{ReplacingMergeTree TABLE ARGUMENTS}` in a migration. */
const ENGINE = /\{(\w*MergeTree) (\w+) ?([^}]*)\}/g;

/** `{replicas STATEMENT}` in a migration: of replicas alone. */
const OF_REPLICAS = /\{replicas ([^}]*)\}/g;

/** Engine clause of a table. `{replica}` is a macro of the server. */
export function engineClause(
  engine: string,
  table: string,
  args: string,
  { shard, isReplicated }: TableLayout,
): string {
  if (!isReplicated) return args === '' ? engine : `${engine}(${args})`;
  const path = `'/clickhouse/tables/${shard}/${table}', '{replica}'`;
  return `Replicated${engine}(${args === '' ? path : `${path}, ${args}`})`;
}

/** Splits a migration file at semicolons that end a line, without comments. */
export function toStatements(sql: string, layout: TableLayout): string[] {
  return sql
    .replace(/^\s*--.*$/gm, '')
    .replace(ENGINE, (_, engine: string, table: string, args: string) => engineClause(engine, table, args, layout))
    .replace(OF_REPLICAS, (_, statement: string) => (layout.isReplicated ? statement : ''))
    .split(/;\s*$/m)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '');
}

export interface MigrateOptions {
  readonly progress?: StepProgress | undefined;
  /** A shard that gets new tables although it has lost its data. */
  readonly lost?: number | undefined;
}

/**
 * All hosts of all shards. Throws after all others are done, naming the hosts that failed. Resolves
 * with the names of the newly applied files.
 */
export const migrateShards = (
  config: ClickHouseSettings & PostgresSettings,
  options: MigrateOptions = {},
): Promise<string[]> => withPostgres(config, (postgres) => migrateEach(config, postgres, options));

async function migrateEach(
  config: ClickHouseSettings,
  postgres: Postgres,
  { progress, lost }: MigrateOptions,
): Promise<string[]> {
  const shards = await listShards(postgres);
  if (lost !== undefined && shards.every(({ id }) => id !== lost)) throw new UsageError(`there is no shard ${lost}`);
  const applied = new Set<string>();
  const failures: HostFailure[] = [];
  for (const shard of shards) {
    const urls = urlsOf(config, shard);
    const loss =
      shard.id === lost ? undefined : await findLoss(postgres, { id: shard.id, urls }, config.CLICKHOUSE_DATABASE);
    if (loss !== undefined) {
      failures.push({ shard: shard.id, host: urls.map((url) => new URL(url).host).join(' and '), error: loss });
      continue;
    }
    const migrate = () => migrateShard({ id: shard.id, urls }, config.CLICKHOUSE_DATABASE);
    const migrated = await (progress === undefined ? migrate() : watched(urls[0], config, { progress, migrate }));
    for (const name of migrated.applied) applied.add(name);
    // The error of the only server names the store.
    if (shards.length === 1 && migrated.failed[0] !== undefined) throw migrated.failed[0].error;
    failures.push(...migrated.failed.map(({ host, error }) => ({ shard: shard.id, host, error })));
  }
  if (failures.length > 0) throw new HostsNotMigrated(failures);
  return [...applied].sort();
}

/** Shows what the first host of a shard rewrites meanwhile. */
const watched = (
  url: string | undefined,
  { CLICKHOUSE_URL, CLICKHOUSE_DATABASE }: ClickHouseSettings,
  { progress, migrate }: { progress: StepProgress; migrate: () => Promise<Migrated> },
): Promise<Migrated> =>
  withClient(url ?? CLICKHOUSE_URL, CLICKHOUSE_DATABASE, (host) => watchRewrites(host, progress, migrate));

interface HostFailure {
  readonly shard: number;
  readonly host: string;
  readonly error: unknown;
}

/** Its message is shown at a terminal, without a trace. */
export class HostsNotMigrated extends Error {
  /** Whether the first shard is complete. */
  readonly isFirstMigrated: boolean;

  constructor(failures: readonly HostFailure[]) {
    const hosts = failures.map(({ shard, host, error }) => `shard ${shard} at ${host}: ${inOneLine(error)}`);
    super(`${hosts.length} ${hosts.length === 1 ? 'host' : 'hosts'} could not be migrated: ${hosts.join('; ')}`);
    this.name = 'HostsNotMigrated';
    this.isFirstMigrated = failures.every(({ shard }) => shard !== FIRST_SHARD);
  }
}

export interface Migrated {
  /** Files that were newly applied to any host. */
  readonly applied: ReadonlySet<string>;
  readonly failed: readonly { readonly host: string; readonly error: unknown }[];
}

/** Idempotent. Never rejects: a host that fails is left out, and the others go on. */
export async function migrateShard({ id, urls }: ShardHosts, database: string): Promise<Migrated> {
  const layout: TableLayout = { shard: id, isReplicated: urls.length > 1 };
  const applied = new Set<string>();
  const failed: { host: string; error: unknown }[] = [];
  let hosts = urls.map((url) => ({ url, pending: new Set<string>() }));

  async function onEach(work: (url: string, pending: Set<string>) => Promise<void>): Promise<void> {
    const left: typeof hosts = [];
    for (const host of hosts) {
      await work(host.url, host.pending).then(
        () => left.push(host),
        (error: unknown) => failed.push({ host: new URL(host.url).host, error }),
      );
    }
    hosts = left;
  }

  await onEach(async (url, pending) => {
    for (const name of await prepareHost(url, database)) pending.add(name);
  });
  const files = migrationFiles();
  const withTables = hosts.find(({ pending }) => pending.size < files.length);
  await onEach(async (url, pending) => {
    if (withTables === undefined || pending.size < files.length) return;
    await withClient(withTables.url, database, (from) => withClient(url, database, (to) => copyTables(from, to)));
    for (const name of files) if (!withTables.pending.has(name)) pending.delete(name);
  });
  for (const name of files) {
    await onEach(async (url, pending) => {
      if (!pending.has(name)) return;
      await applyFile(url, database, { name, layout });
      applied.add(name);
    });
  }
  return { applied, failed };
}

const migrationFiles = (): string[] =>
  readdirSync(FOLDER)
    .filter((name) => name.endsWith('.sql'))
    .sort();

/**
 * Creates the database and its table of versions. Resolves with the files that it lacks. Throws
 * NewerData for a database of a newer version.
 */
async function prepareHost(url: string, database: string): Promise<string[]> {
  await createDatabase(url, database);
  return withClient(url, database, async (clickhouse) => {
    await clickhouse.command({
      query:
        'CREATE TABLE IF NOT EXISTS schema_migrations (name String, applied_at DateTime DEFAULT now()) ENGINE = MergeTree ORDER BY name',
    });
    const rows = await rowsOf<{ name: string }>(clickhouse, 'SELECT name FROM schema_migrations');
    const applied = new Set(rows.map(({ name }) => name));
    const files = migrationFiles();
    const unknown = [...applied].filter((name) => !files.includes(name)).sort();
    if (unknown.length > 0) throw new NewerData('ClickHouse', unknown);
    return files.filter((name) => !applied.has(name));
  });
}

/** Unless it exists: an account that was granted the rights on it alone may create none. */
export const createDatabase = (url: string, database: string): Promise<void> =>
  // A database that every server has, because this one may not exist yet.
  withClient(url, 'system', async (clickhouse) => {
    const query = 'SELECT name FROM databases WHERE name = {database:String}';
    if ((await rowsOf(clickhouse, query, { database })).length > 0) return;
    await clickhouse.command({ query: `CREATE DATABASE IF NOT EXISTS ${database}` });
  });

const applyFile = (url: string, database: string, file: { name: string; layout: TableLayout }): Promise<void> =>
  withClient(url, database, async (clickhouse) => {
    for (const query of toStatements(readFileSync(join(FOLDER, file.name), 'utf8'), file.layout)) {
      await clickhouse.command({ query });
    }
    await clickhouse.insert({ table: 'schema_migrations', values: [{ name: file.name }], format: 'JSONEachRow' });
  });
