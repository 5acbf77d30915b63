// Applies the migrations in ops/postgres with knex, one run at a time. The lock of knex is a table,
// which two first runs would both create.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { NewerData } from '../newer-data.js';
import { packageRoot } from '../paths.js';
import type { StepProgress, StepState } from '../progress.js';
import { withAdvisoryLock } from './advisory-lock.js';
import { createPostgres, type PostgresSettings } from './client.js';
import { refuseIncompleteEncoding } from './encoding.js';
import { refuseTransactionPooler } from './pooler.js';

function toMigrations() {
  // Compiled code runs the compiled migrations. Names are stored without extension, so both agree.
  const compiled = join(packageRoot, 'dist', 'ops', 'postgres');
  return {
    directory: existsSync(compiled) ? compiled : join(packageRoot, 'ops', 'postgres'),
    loadExtensions: ['.js'],
    tableName: 'schema_migrations',
  };
}

/**
 * Applies the named migrations only, to an empty database. Throws an error that names one that this
 * version does not know.
 */
export async function applyMigrations(config: PostgresSettings, names: readonly string[]): Promise<void> {
  const postgres = createPostgres(config);
  try {
    const [, pending] = (await postgres.migrate.list(toMigrations())) as [unknown, { file: string }[]];
    const known = new Set(pending.map(({ file }) => file));
    const unknown = names.find((name) => !known.has(name));
    if (unknown !== undefined) throw new Error(`this version does not know the migration ${unknown}: use a newer one`);
    for (const name of names) await postgres.migrate.up({ ...toMigrations(), name });
  } finally {
    await postgres.destroy();
  }
}

/** Of knex, with the files that are missing. */
const UNKNOWN_APPLIED = /^The migration directory is corrupt, .* missing: (?<files>.*)$/;

/**
 * Idempotent. Throws NewerData for a database of a newer version, and a ConfigProblem for one that
 * lacks letters, or for a pooler that gives each transaction another connection. Waits for a run of
 * another process. Resolves with the names of the newly applied migrations. One transaction: a run
 * that is interrupted leaves nothing, its lock neither.
 */
export async function migratePostgres(config: PostgresSettings, progress?: StepProgress): Promise<string[]> {
  const postgres = createPostgres(config);
  let total = 0;
  let done = 0;
  const migrate = async (): Promise<string[]> => {
    const [, names] = (await postgres.migrate.latest({
      ...toMigrations(),
      beforeAll: async (_, pending) => {
        total = pending.length;
      },
      afterEach: async () => {
        done += 1;
      },
    })) as [number, string[]];
    return names;
  };
  const read = async (): Promise<StepState | undefined> =>
    total === 0 ? undefined : { step: 'migrating PostgreSQL', done, total, unit: 'migrations' };
  try {
    await refuseTransactionPooler(postgres);
    await refuseIncompleteEncoding(postgres);
    const onWait = () => progress?.note('waiting for another process that migrates PostgreSQL');
    return await withAdvisoryLock(postgres, { of: 'migrations', onWait }, () =>
      progress === undefined ? migrate() : progress.watch(read, migrate),
    );
  } catch (error) {
    const files = error instanceof Error ? UNKNOWN_APPLIED.exec(error.message)?.groups?.files : undefined;
    throw files === undefined ? error : new NewerData('PostgreSQL', files.replaceAll('.js', '').split(', '));
  } finally {
    await postgres.destroy();
  }
}
