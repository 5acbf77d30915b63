// PostgreSQL client (knex) of every process.
import knex, { type Knex } from 'knex';
import type { Config } from '../config.js';

export type Postgres = Knex;
export type Transaction = Knex.Transaction;

/** Silences knex's own log: its format differs, and callers get every failure. */
const SILENT = { warn() {}, error() {}, deprecate() {}, debug() {} };

export type PostgresSettings = Pick<Config, 'DATABASE_URL'> & Partial<Pick<Config, 'DATABASE_TLS'>>;

export function createPostgres(config: PostgresSettings, options: { poolMax?: number } = {}): Postgres {
  return knex.default({
    client: 'pg',
    connection: { ...toConnection(config), application_name: 'event-analytics-service' },
    // Errors keep the statement but not its values, which include ids of people and must not be
    // logged.
    compileSqlOnError: false,
    log: SILENT,
    pool: { min: 0, max: options.poolMax ?? 5 },
  });
}

/** The settings of TLS in an address win over the others, so they are removed from it. */
function toConnection({ DATABASE_URL, DATABASE_TLS = 'url' }: PostgresSettings) {
  if (DATABASE_TLS === 'url') return { connectionString: DATABASE_URL };
  const url = new URL(DATABASE_URL);
  for (const name of ['ssl', 'sslmode', 'uselibpqcompat']) url.searchParams.delete(name);
  return { connectionString: url.href, ssl: { rejectUnauthorized: DATABASE_TLS === 'verify' } };
}
