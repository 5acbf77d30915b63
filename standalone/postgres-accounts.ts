// Accounts of the embedded PostgreSQL. The superuser creates and prepares the cluster; the service
// logs in as a role that owns only its databases, so that no statement of it can read files or
// start programs.
import type { Postgres } from '../src/platform/postgres/client.js';

/** The cluster's superuser has the name of the database, since the first version. */
export const SUPERUSER = 'analytics';
export const SERVICE_ROLE = 'analytics_service';

/** Idempotent. `postgres` is connected as the superuser. */
export async function ensureServiceRole(postgres: Postgres, password: string): Promise<void> {
  const { rows } = await postgres.raw('SELECT 1 FROM pg_roles WHERE rolname = ?', [SERVICE_ROLE]);
  if (rows.length === 0) await postgres.raw('CREATE ROLE ?? LOGIN', [SERVICE_ROLE]);
  // A utility statement takes no parameters; knex quotes the text as a literal.
  await postgres.raw(postgres.raw('ALTER ROLE ?? PASSWORD ?', [SERVICE_ROLE, password]).toQuery());
  // The purge of erased people waits for older transactions, its own and those of PostgreSQL.
  await postgres.raw('GRANT pg_read_all_stats, pg_checkpoint TO ??', [SERVICE_ROLE]);
  for (const database of ['postgres', 'template1']) {
    await postgres.raw('REVOKE CONNECT ON DATABASE ?? FROM PUBLIC', [database]);
  }
}

export async function ensureDatabase(postgres: Postgres, name: string): Promise<void> {
  const { rows } = await postgres.raw('SELECT 1 FROM pg_database WHERE datname = ?', [name]);
  if (rows.length === 0) await postgres.raw('CREATE DATABASE ??', [name]);
  await postgres.raw('ALTER DATABASE ?? OWNER TO ??', [name, SERVICE_ROLE]);
  await postgres.raw('REVOKE ALL ON DATABASE ?? FROM PUBLIC', [name]);
}

/**
 * For a database that an earlier version created as the superuser. `postgres` is connected to it as
 * the superuser.
 */
export async function handOverObjects(postgres: Postgres): Promise<void> {
  // In sequence, because the sequence of a column follows its table.
  for (const query of OWNED) {
    const { rows } = await postgres.raw<{ rows: { object: string }[] }>(query, [SUPERUSER]);
    for (const { object } of rows) await postgres.raw(`ALTER ${object} OWNER TO ??`, [SERVICE_ROLE]);
  }
}

/** Grants on functions belong to one database. `postgres` is connected to it as the superuser. */
export async function grantLogMaintenance(postgres: Postgres): Promise<void> {
  // The purge of erased people begins a new segment of the write-ahead log
  // (privacy/rewrite-files.ts).
  await postgres.raw('GRANT EXECUTE ON FUNCTION pg_switch_wal(), pg_ls_waldir() TO ??', [SERVICE_ROLE]);
}

const OWNED = [
  `SELECT 'TABLE ' || oid::regclass AS object FROM pg_class
   WHERE relnamespace = 'public'::regnamespace AND relowner = ?::regrole AND relkind IN ('r', 'p')`,
  `SELECT 'SEQUENCE ' || oid::regclass AS object FROM pg_class
   WHERE relnamespace = 'public'::regnamespace AND relowner = ?::regrole AND relkind = 'S'`,
  `SELECT 'ROUTINE ' || oid::regprocedure AS object FROM pg_proc
   WHERE pronamespace = 'public'::regnamespace AND proowner = ?::regrole`,
];
