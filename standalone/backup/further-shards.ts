// Further ClickHouse servers (shards), which PostgreSQL names. Their data is in no backup.
import { existsSync } from 'node:fs';
import { describeHosts } from '../../src/platform/clickhouse/silent-hosts.js';
import { messageOf } from '../../src/platform/errors.js';
import { type Postgres, withPostgres } from '../../src/platform/postgres/client.js';
import type { DataDirectory } from '../data-directory.js';
import type { InstanceLock } from '../instance-lock.js';
import { postgresOf, whileRunning } from './temporary-engine.js';

/** Undefined when there are none, also before the migration that creates their table. */
export async function nameFurtherShards(postgres: Postgres): Promise<string | undefined> {
  if (!(await postgres.schema.hasTable('shards'))) return undefined;
  // The column is missing in databases of earlier versions.
  const all: { id: number; urls: string[]; removed_at?: Date | null }[] = await postgres('shards')
    .where('id', '>', 1)
    .orderBy('id');
  const rows = all.filter(({ removed_at }) => !removed_at);
  if (rows.length === 0) return undefined;
  return describeHosts(rows.flatMap(({ id, urls }) => urls.map((url) => ({ shard: id, host: new URL(url).host }))));
}

/**
 * Names the shards of a stopped service, whose PostgreSQL runs meanwhile. One that does not start
 * must not prevent a backup.
 */
export async function nameShardsOfStopped(directory: DataDirectory, lock: InstanceLock): Promise<string | undefined> {
  if (!existsSync(directory.postgres)) return undefined;
  try {
    return await whileRunning(postgresOf(directory), lock, ({ url }) =>
      withPostgres({ DATABASE_URL: url }, nameFurtherShards),
    );
  } catch (error) {
    return `further ClickHouse servers, if there are any (PostgreSQL cannot be read: ${messageOf(error)})`;
  }
}
