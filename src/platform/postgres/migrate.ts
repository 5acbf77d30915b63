// Applies the migrations in ops/postgres with knex, whose lock allows concurrent runs.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../config.js';
import { packageRoot } from '../paths.js';
import { createPostgres } from './client.js';

/** Idempotent. Resolves with the names of the newly applied migrations. */
export async function migratePostgres(config: Pick<Config, 'DATABASE_URL'>): Promise<string[]> {
  const postgres = createPostgres(config);
  try {
    // Compiled code runs the compiled migrations. Names are stored without extension, so both
    // agree.
    const compiled = join(packageRoot, 'dist', 'ops', 'postgres');
    const [, names] = (await postgres.migrate.latest({
      directory: existsSync(compiled) ? compiled : join(packageRoot, 'ops', 'postgres'),
      loadExtensions: ['.js'],
      tableName: 'schema_migrations',
    })) as [number, string[]];
    return names;
  } finally {
    await postgres.destroy();
  }
}
