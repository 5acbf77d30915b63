// PostgreSQL client (knex) of every process.
import knex, { type Knex } from 'knex';
import type { Config } from '../config.js';

export type Postgres = Knex;
export type Transaction = Knex.Transaction;

/** Silences knex's own log: its format differs, and callers get every failure. */
const SILENT = { warn() {}, error() {}, deprecate() {}, debug() {} };

export function createPostgres(config: Pick<Config, 'DATABASE_URL'>, options: { poolMax?: number } = {}): Postgres {
  return knex.default({
    client: 'pg',
    connection: { connectionString: config.DATABASE_URL, application_name: 'event-analytics-service' },
    // Errors keep the statement but not its values, which include ids of people and must not be
    // logged.
    compileSqlOnError: false,
    log: SILENT,
    pool: { min: 0, max: options.poolMax ?? 5 },
  });
}
