// Whether PostgreSQL can be used, and waiting until it can.
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../log.js';
import { createRepeatedWarning } from '../repeated-warning.js';
import type { Postgres } from './client.js';

const ASK_EVERY_MS = 1000;

/** Readiness: a table, because a server that answers may lack its schema. */
export const askPostgres = async (postgres: Postgres): Promise<unknown> =>
  postgres.raw('SELECT FROM projects WHERE false');

/** SQL: why the service cannot use a PostgreSQL that answers; null when it can. */
export const POSTGRES_PROBLEM = `CASE WHEN pg_is_in_recovery() THEN 'a replica, which refuses writes'
    WHEN current_setting('transaction_read_only') = 'on' THEN 'default_transaction_read_only is on: it refuses writes'
    WHEN to_regclass('projects') IS NULL THEN 'without the tables of the service'
    WHEN NOT has_table_privilege(to_regclass('projects')::oid, 'INSERT') THEN 'the account may not write'
  END`;

/** Readiness of a process whose jobs write. */
export async function askToWrite(postgres: Postgres): Promise<void> {
  const { rows } = await postgres.raw<{ rows: { problem: string | null }[] }>(`SELECT ${POSTGRES_PROBLEM} AS problem`);
  const problem = rows[0]?.problem ?? null;
  if (problem !== null) throw new Error(`DATABASE_URL: ${problem}`);
}

/** For processes that do nothing without it, so that stores may start after them. */
export async function waitForPostgres(postgres: Postgres, log: Logger): Promise<void> {
  const warn = createRepeatedWarning({ log, message: 'PostgreSQL cannot be used; the jobs begin when it can' });
  for (;;) {
    try {
      await askToWrite(postgres);
      return;
    } catch (error) {
      warn(error);
    }
    await delay(ASK_EVERY_MS);
  }
}
