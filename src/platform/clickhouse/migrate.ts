// Applies ops/clickhouse/*.sql in the order of their numbers, once each.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createClient } from '@clickhouse/client';
import type { Config } from '../config.js';
import { packageRoot } from '../paths.js';
import { createClickHouse } from './client.js';

const FOLDER = join(packageRoot, 'ops', 'clickhouse');

/** Statements of a migration file: separated by a semicolon at the end of a line, comments removed. */
export function splitStatements(sql: string): string[] {
  return sql
    .replace(/^\s*--.*$/gm, '')
    .split(/;\s*$/m)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '');
}

/** Safe to repeat. Resolves with the names of the files that were applied now. */
export async function migrateClickHouse(
  config: Pick<Config, 'CLICKHOUSE_URL' | 'CLICKHOUSE_DATABASE'>,
): Promise<string[]> {
  // The database may not exist yet, so the first statement cannot name it as the connection's own.
  const admin = createClient({ url: config.CLICKHOUSE_URL });
  await admin.command({ query: `CREATE DATABASE IF NOT EXISTS ${config.CLICKHOUSE_DATABASE}` });
  await admin.close();

  const clickhouse = createClickHouse(config);
  try {
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
      for (const query of splitStatements(readFileSync(join(FOLDER, name), 'utf8'))) {
        await clickhouse.command({ query });
      }
      await clickhouse.insert({ table: 'schema_migrations', values: [{ name }], format: 'JSONEachRow' });
    }
    return pending;
  } finally {
    await clickhouse.close();
  }
}
