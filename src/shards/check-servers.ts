// Checks of the servers of a shard: whether two addresses lead to one server, whether a server has
// the tables of this version, and whether it has rows of projects.
import { randomBytes } from 'node:crypto';
import { CANARY_PREFIX } from '../ingest/canary.js';
import { type ClickHouseClient, rowsOf, withClient } from '../platform/clickhouse/client.js';
import { inOneLine } from '../platform/clickhouse/failures.js';
import { hasTable } from '../platform/clickhouse/has-table.js';
import { createDatabase, migrateShard, type ShardHosts } from '../platform/clickhouse/migrate.js';
import { CLICKHOUSE_TABLES } from '../privacy/personal-data.js';

/**
 * Two shards in one database would count, erase and delete each other's rows. Creates no tables,
 * which would stay at a server that is refused, and in Keeper.
 */
export async function requireNewServers(
  database: string,
  known: readonly string[],
  urls: readonly string[],
): Promise<void> {
  for (const url of urls) {
    await createDatabase(url, database).catch((cause: unknown) => {
      throw new Error(`the database cannot be created at ${hostOf(url)}: ${inOneLine(cause)}`, { cause });
    });
  }
  for (const [index, url] of urls.entries()) {
    const same = await findSameServer(database, url, [...known, ...urls.slice(index + 1)]);
    if (same !== undefined) throw new Error(`${hostOf(url)} and ${hostOf(same)} are the same server`);
  }
}

/**
 * The first of the other URLs that leads to the same server. The same server may have several
 * names, so a table that is created at the URL is looked for at the others. One that does not
 * answer is taken for another server. Rejects when the server at the URL does not answer.
 */
export function findSameServer(database: string, url: string, others: readonly string[]): Promise<string | undefined> {
  const table = `shard_check_${randomBytes(8).toString('hex')}`;
  return withClient(url, database, async (clickhouse) => {
    await clickhouse.command({ query: `CREATE TABLE ${table} (n UInt8) ENGINE = Memory` });
    try {
      for (const other of others) if (await hasTable(other, database, table).catch(() => false)) return other;
      return undefined;
    } finally {
      await clickhouse.command({ query: `DROP TABLE ${table}` });
    }
  });
}

/**
 * Resolves with the number of applied files. Throws an error that begins with `otherwise` and names
 * each host that failed.
 */
export async function requireMigrated(shard: ShardHosts, database: string, otherwise: string): Promise<number> {
  const { applied, failed } = await migrateShard(shard, database);
  if (failed.length === 0) return applied.size;
  const reasons = failed.map(({ host, error }) => `${host}: ${inOneLine(error)}`);
  throw new Error(`${otherwise}, because migrations failed at ${reasons.join('; ')}`);
}

/** Throws when a table has rows of a project. Events of canaries do not count. */
export async function requireNoProjects(host: string, clickhouse: ClickHouseClient): Promise<void> {
  for (const { name } of CLICKHOUSE_TABLES) {
    const query = `SELECT toString(project_id) AS project FROM ${name} WHERE NOT startsWith(project, {canary:String}) LIMIT 1`;
    const [row] = await rowsOf<{ project: string }>(clickhouse, query, { canary: CANARY_PREFIX });
    if (row !== undefined) throw new Error(`${host} has rows of the project ${row.project} in ${name}`);
  }
}

export const hostOf = (url: string): string => new URL(url).host;
