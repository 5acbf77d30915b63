// Applies ops/postgres, through knex, which takes a lock so that several machines may try at once.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../config.js';
import { packageRoot } from '../paths.js';
import { createPostgres } from './client.js';

/** Safe to repeat. Resolves with the names of the migrations that were applied now. */
export async function migratePostgres(config: Pick<Config, 'DATABASE_URL'>): Promise<string[]> {
  const postgres = createPostgres(config);
  try {
    // Compiled code runs the compiled migrations; knex remembers names without their ending, so both agree.
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
