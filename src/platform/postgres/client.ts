// The one way every process reaches PostgreSQL.
import knex, { type Knex } from 'knex';
import type { Config } from '../config.js';

export type Postgres = Knex;
export type Transaction = Knex.Transaction;

/** Its own lines are not in our form, and every failure reaches the caller anyway. */
const SILENT = { warn() {}, error() {}, deprecate() {}, debug() {} };

export function createPostgres(config: Pick<Config, 'DATABASE_URL'>, options: { poolMax?: number } = {}): Postgres {
  return knex.default({
    client: 'pg',
    connection: { connectionString: config.DATABASE_URL, application_name: 'event-analytics-service' },
    // An error says which statement failed; its values, ids of people among them, have no place in a log.
    compileSqlOnError: false,
    log: SILENT,
    pool: { min: 0, max: options.poolMax ?? 5 },
  });
}
