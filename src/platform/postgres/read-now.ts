// The time by the clock of PostgreSQL, which rows are compared with.
import type { Postgres } from './client.js';

/** Epoch milliseconds. */
export async function readNow(postgres: Postgres): Promise<number> {
  const { rows } = await postgres.raw<{ rows: [{ now: Date }] }>('SELECT now() AS now');
  return rows[0].now.getTime();
}
