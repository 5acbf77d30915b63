// The encoding of the database: names and properties have letters of every language.
import { ConfigProblem } from '../config-problem.js';
import type { Postgres } from './client.js';

/** SQL_ASCII stores bytes as they come: it loses nothing, and knows letters of English alone. */
const COMPLETE: readonly string[] = ['UTF8', 'SQL_ASCII'];

export async function readEncoding(postgres: Postgres): Promise<string> {
  const { rows } = await postgres.raw<{ rows: { encoding: string }[] }>(
    "SELECT current_setting('server_encoding') AS encoding",
  );
  return rows[0]?.encoding ?? '';
}

/** Throws a ConfigProblem for a database that refuses letters. */
export async function refuseIncompleteEncoding(postgres: Postgres): Promise<void> {
  const encoding = await readEncoding(postgres);
  if (COMPLETE.includes(encoding)) return;
  throw new ConfigProblem(
    `the database of DATABASE_URL has the encoding ${encoding}, which lacks most letters: create it with ENCODING 'UTF8' (and TEMPLATE template0)`,
  );
}
