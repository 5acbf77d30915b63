// Applies the migrations ops/clickhouse/*.sql in order of their numbers, once each.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { packageRoot } from '../paths.js';
import { type ClickHouseSettings, createClickHouse } from './client.js';
import { toClusterStatements } from './cluster.js';

const FOLDER = join(packageRoot, 'ops', 'clickhouse');

/** Splits a migration file at semicolons that end a line, without comments. */
export function splitStatements(sql: string): string[] {
  return sql
    .replace(/^\s*--.*$/gm, '')
    .split(/;\s*$/m)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '');
}

/** Idempotent. Resolves with the names of the newly applied files. */
export async function migrateClickHouse(config: ClickHouseSettings): Promise<string[]> {
  const cluster = config.CLICKHOUSE_CLUSTER;
  // The database may not exist yet, so this connection does not select it.
  const admin = createClient({ url: config.CLICKHOUSE_URL, log: { level: ClickHouseLogLevel.OFF } });
  await admin.command({
    query: `CREATE DATABASE IF NOT EXISTS ${config.CLICKHOUSE_DATABASE}${cluster === undefined ? '' : ` ON CLUSTER '${cluster}'`}`,
  });
  await admin.close();

  const clickhouse = createClickHouse(config);
  try {
    // On a cluster each server remembers for itself: every statement may be repeated.
    await clickhouse.command({
      query:
        'CREATE TABLE IF NOT EXISTS schema_migrations (name String, applied_at DateTime DEFAULT now()) ENGINE = MergeTree ORDER BY name',
    });
    const result = await clickhouse.query({ query: 'SELECT name FROM schema_migrations', format: 'JSONEachRow' });
    const applied = new Set((await result.json<{ name: string }>()).map((row) => row.name));
    const pending = readdirSync(FOLDER)
      .filter((name) => name.endsWith('.sql') && !applied.has(name))
      .sort();
    for (const name of pending) {
      const statements = splitStatements(readFileSync(join(FOLDER, name), 'utf8'));
      for (const query of cluster === undefined
        ? statements
        : statements.flatMap((one) => toClusterStatements(one, cluster))) {
        await clickhouse.command({ query });
      }
      await clickhouse.insert({ table: 'schema_migrations', values: [{ name }], format: 'JSONEachRow' });
    }
    return pending;
  } finally {
    await clickhouse.close();
  }
}
