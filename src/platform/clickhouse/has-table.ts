// Whether a server has a table, in a database that may not exist.
import { rowsOf, withClient } from './client.js';

/** The client selects another database, because this one may not exist. */
export const hasTable = (url: string, database: string, table: string): Promise<boolean> =>
  withClient(url, 'system', async (clickhouse) => {
    const query = 'SELECT 1 FROM tables WHERE database = {database:String} AND name = {table:String}';
    return (await rowsOf(clickhouse, query, { database, table })).length > 0;
  });
