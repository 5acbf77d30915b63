// PostgreSQL client (knex) of every process.
import type { Duplex } from 'node:stream';
import knex, { type Knex } from 'knex';
import type { Config } from '../config.js';
import { PIN_SETTINGS } from './pinned-settings.js';

export type Postgres = Knex;
export type Transaction = Knex.Transaction;

/** Silences knex's own log: its format differs, and callers get every failure. */
const SILENT = { warn() {}, error() {}, deprecate() {}, debug() {} };

export type PostgresSettings = Pick<Config, 'DATABASE_URL'> & Partial<Pick<Config, 'DATABASE_TLS'>>;

const CONNECT_MS = 10_000;

export interface PostgresOptions {
  readonly poolMax?: number;
  /**
   * Longest wait for a connection, and for the answer to a statement; by default 60 s, and without
   * a limit.
   */
  readonly answerMs?: number;
}

export function createPostgres(config: PostgresSettings, { poolMax = 5, answerMs }: PostgresOptions = {}): Postgres {
  return knex.default({
    client: 'pg',
    connection: {
      ...toConnection(config),
      application_name: 'event-analytics-service',
      connectionTimeoutMillis: CONNECT_MS,
    },
    // Errors keep the statement but not its values, which include ids of people and must not be
    // logged.
    compileSqlOnError: false,
    log: SILENT,
    pool: {
      ...{ min: 0, max: poolMax },
      ...(answerMs !== undefined && { acquireTimeoutMillis: answerMs }),
      afterCreate(connection: Connection, done: (error: unknown) => void) {
        if (answerMs !== undefined) endWhenSilent(connection, answerMs);
        connection.query(PIN_SETTINGS, (error) => done(error));
      },
    },
  });
}

/** With one connection, which is closed afterwards. */
export async function withPostgres<T>(config: PostgresSettings, work: (postgres: Postgres) => Promise<T>): Promise<T> {
  const postgres = createPostgres(config, { poolMax: 1 });
  try {
    return await work(postgres);
  } finally {
    await postgres.destroy();
  }
}

/** The part of pg's client that knex uses. */
interface Connection {
  query(statement: unknown, callback: (error: unknown, result: unknown) => void): void;
  readonly connection: { readonly stream: Duplex };
}

/** Ends the connection when a statement gets no answer: all that follow on it would wait, too. */
function endWhenSilent(connection: Connection, answerMs: number): void {
  const query = connection.query.bind(connection);
  connection.query = (statement, callback) => {
    const late = setTimeout(() => connection.connection.stream.destroy(new StatementTimeout(answerMs)), answerMs);
    query(statement, (error, result) => {
      clearTimeout(late);
      callback(error, result);
    });
  };
}

class StatementTimeout extends Error {
  readonly code = 'ETIMEDOUT';

  constructor(answerMs: number) {
    super(`PostgreSQL did not answer a statement within ${answerMs} ms`);
  }
}

/** The settings of TLS in an address win over the others, so they are removed from it. */
function toConnection({ DATABASE_URL, DATABASE_TLS = 'url' }: PostgresSettings) {
  if (DATABASE_TLS === 'url') return { connectionString: DATABASE_URL };
  const url = new URL(DATABASE_URL);
  for (const name of ['ssl', 'sslmode', 'uselibpqcompat']) url.searchParams.delete(name);
  return { connectionString: url.href, ssl: { rejectUnauthorized: DATABASE_TLS === 'verify' } };
}
