// Tables of a replica that begins empty beside others, after its disk was lost or its server was
// replaced: they are those of another replica, as they are now. The migrations would create the
// tables of the first version, which ClickHouse does not let join.
import { type ClickHouseClient, READ_ONLY, rowsOf } from './client.js';
import { isReplicaKnown } from './failures.js';

/** Creates the tables and views that are missing, and the list of what was applied. */
export async function copyTables(from: ClickHouseClient, to: ClickHouseClient): Promise<void> {
  for (const { query } of await rowsOf<{ query: string }>(from, TABLES, {}, READ_ONLY)) {
    const create = query.replace(/^CREATE (?:TABLE|MATERIALIZED VIEW|VIEW)/, '$& IF NOT EXISTS');
    await to.command({ query: create }).catch((cause: unknown) => {
      throw isReplicaKnown(cause) ? stillKnown(cause) : cause;
    });
  }
  const applied = await rowsOf<{ name: string }>(from, 'SELECT name FROM schema_migrations');
  await to.insert({ table: 'schema_migrations', values: applied, format: 'JSONEachRow' });
}

/** Views read tables, which must be there. */
const TABLES = `SELECT create_table_query AS query FROM system.tables
  WHERE database = currentDatabase() AND name != 'schema_migrations' ORDER BY engine LIKE '%View', name`;

const stillKnown = (cause: unknown): Error =>
  new Error(
    'Keeper still knows the replica that this server was, whose data is gone: run SYSTEM DROP REPLICA ' +
      "'<its {replica}>' FROM DATABASE <database> at another replica, and repeat",
    { cause },
  );
