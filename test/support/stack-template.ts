// Template of the databases of test files: migrated once in a run, then copied, which costs a third
// of the CPU time of migrating.
import { type ClickHouseSettings, createClickHouse } from '../../src/platform/clickhouse/client.js';
import { migrateShard } from '../../src/platform/clickhouse/migrate.js';
import { FIRST_SHARD } from '../../src/platform/clickhouse/shards.js';
import { createPostgres, type Postgres } from '../../src/platform/postgres/client.js';
import { migratePostgres } from '../../src/platform/postgres/migrate.js';
import { ensureDatabase } from '../../standalone/postgres-accounts.js';
import type { EngineUrls } from './stack-engines.js';

/** What copies of the template need beside its databases. */
export interface Template {
  /** Statements that create the tables of the ClickHouse database, then its views. */
  readonly clickhouse: readonly string[];
}

const NAME = 'test_template';

export async function createTemplate(urls: EngineUrls): Promise<Template> {
  await createEmptyDatabase(urls, NAME);
  await migratePostgres({ DATABASE_URL: withPath(urls.postgres, NAME) });
  await migrateClickHouse({ CLICKHOUSE_URL: urls.clickhouse, CLICKHOUSE_DATABASE: NAME });

  const clickhouse = createClickHouse({ CLICKHOUSE_URL: urls.clickhouse, CLICKHOUSE_DATABASE: NAME });
  const read = async (query: string): Promise<string[]> => {
    const result = await clickhouse.query({ query, format: 'JSONCompactEachRow' });
    return (await result.json<[string]>()).map(([first]) => first);
  };
  const statements: string[] = [];
  for (const table of await read('SHOW TABLES')) statements.push(...(await read(`SHOW CREATE TABLE ${table}`)));
  await clickhouse.close();
  const isTable = (statement: string): boolean => statement.startsWith('CREATE TABLE');
  return { clickhouse: [...statements.filter(isTable), ...statements.filter((one) => !isTable(one))] };
}

/** Migrates one server. Resolves with the names of the newly applied files. */
export async function migrateClickHouse(config: ClickHouseSettings): Promise<string[]> {
  const shard = { id: FIRST_SHARD, urls: [config.CLICKHOUSE_URL] };
  const { applied, failed } = await migrateShard(shard, config.CLICKHOUSE_DATABASE);
  if (failed[0] !== undefined) throw failed[0].error;
  return [...applied];
}

/** A new PostgreSQL database without tables. */
export async function createEmptyDatabase(urls: EngineUrls, name: string): Promise<void> {
  const postgres = connectSuperuser(urls);
  await ensureDatabase(postgres, name);
  await postgres.destroy();
}

/** A new PostgreSQL database and a new ClickHouse database of this name. */
export async function copyTemplate(urls: EngineUrls, template: Template, name: string): Promise<void> {
  const postgres = connectSuperuser(urls);
  await postgres.raw('CREATE DATABASE ?? TEMPLATE ??', [name, NAME]);
  await ensureDatabase(postgres, name);
  await postgres.destroy();

  const clickhouse = createClickHouse({ CLICKHOUSE_URL: urls.clickhouse, CLICKHOUSE_DATABASE: NAME });
  await clickhouse.command({ query: `CREATE DATABASE ${name}` });
  for (const statement of template.clickhouse) {
    await clickhouse.command({ query: statement.replaceAll(`${NAME}.`, `${name}.`) });
  }
  await clickhouse.command({
    query: `INSERT INTO ${name}.schema_migrations SELECT * FROM ${NAME}.schema_migrations`,
  });
  await clickhouse.close();
}

const connectSuperuser = (urls: EngineUrls): Postgres =>
  createPostgres({ DATABASE_URL: withPath(urls.postgresSuperuser, 'postgres') });

export function withPath(url: string, path: string): string {
  const changed = new URL(url);
  changed.pathname = `/${path}`;
  return changed.href;
}
