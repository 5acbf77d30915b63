// Tables of a replica that begins empty beside others, after its disk was lost or its server was
// replaced: they are those of another replica, as they are now. The migrations would create the
// tables of the first version, which ClickHouse does not let join.
import { type ClickHouseClient, READ_ONLY } from './client.js';
import { isReplicaKnown } from './failures.js';

/** Creates the tables and views that are missing, and the list of what was applied. */
export async function copyTables(from: ClickHouseClient, to: ClickHouseClient): Promise<void> {
  const result = await from.query({
    // Views read tables, which must be there.
    query: `SELECT create_table_query AS query FROM system.tables
      WHERE database = currentDatabase() AND name != 'schema_migrations' ORDER BY engine LIKE '%View', name`,
    clickhouse_settings: READ_ONLY,
    format: 'JSONEachRow',
  });
  for (const { query } of await result.json<{ query: string }>()) {
    const create = query.replace(/^CREATE (?:TABLE|MATERIALIZED VIEW|VIEW)/, '$& IF NOT EXISTS');
    await to.command({ query: create }).catch((cause: unknown) => {
      throw isReplicaKnown(cause) ? stillKnown(cause) : cause;
    });
  }
  const applied = await from.query({ query: 'SELECT name FROM schema_migrations', format: 'JSONEachRow' });
  await to.insert({
    table: 'schema_migrations',
    values: await applied.json<{ name: string }>(),
    format: 'JSONEachRow',
  });
}

const stillKnown = (cause: unknown): Error =>
  new Error(
    'Keeper still knows the replica that this server was, whose data is gone: run SYSTEM DROP REPLICA ' +
      "'<its {replica}>' FROM DATABASE <database> at another replica, and repeat",
    { cause },
  );
