// Whether a server has a table, in a database that may not exist.
import { createClickHouse } from './client.js';

export async function hasTable(url: string, database: string, table: string): Promise<boolean> {
  // The database may not exist, so this connection selects another one.
  const clickhouse = createClickHouse({ CLICKHOUSE_URL: url, CLICKHOUSE_DATABASE: 'system' });
  try {
    const result = await clickhouse.query({
      query: 'SELECT 1 FROM tables WHERE database = {database:String} AND name = {table:String}',
      query_params: { database, table },
      format: 'JSONEachRow',
    });
    return (await result.json()).length > 0;
  } finally {
    await clickhouse.close();
  }
}
