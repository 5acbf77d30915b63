// A PostgreSQL with which the service cannot run. A pooler that gives each transaction another
// connection, with which advisory locks do not hold: migrations and the worker refuse it, and the
// doctor names it. A database whose encoding lacks letters: migrations refuse it.
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { createPostgres } from '../../src/platform/postgres/client.js';
import { migratePostgres } from '../../src/platform/postgres/migrate.js';
import { isPooledByTransaction } from '../../src/platform/postgres/pooler.js';
import { type Ended, runScript } from '../support/run-script.js';
import { createTestDatabases, type TestDatabases } from '../support/stack.js';
import { withPath } from '../support/stack-template.js';
import { startTransactionPooler } from '../support/transaction-pooler.js';

let databases: TestDatabases;

beforeAll(async () => {
  databases = await createTestDatabases();
});

afterAll(() => databases?.close());

/** With a pooler of its own: a client that was ended by force leaves its answer to the next one. */
async function runBehindPooler(script: string): Promise<Ended> {
  const pooler = await startTransactionPooler(databases.config.DATABASE_URL);
  const ended = await runScript([script], { ...databases.env, DATABASE_URL: pooler.url });
  pooler.close();
  return ended;
}

test('connections of the server itself are told from those of a pooler', async () => {
  const pooler = await startTransactionPooler(databases.config.DATABASE_URL);
  const ask = async (url: string) => {
    const postgres = createPostgres({ DATABASE_URL: url }, { poolMax: 2 });
    return isPooledByTransaction(postgres).finally(() => postgres.destroy());
  };
  expect(await ask(databases.config.DATABASE_URL)).toBe(false);
  expect(await ask(pooler.url)).toBe(true);
  pooler.close();
});

test.each(['dist/src/platform/migrate.js', 'dist/processes/worker.js'])('%s refuses the pooler', async (script) => {
  const { status, output } = await runBehindPooler(script);
  expect(output).toContain('DATABASE_URL is a pooler that gives each transaction another connection');
  expect(output).not.toContain('    at ');
  expect(status).toBe(1);
});

test('the doctor names the pooler', async () => {
  const { status, output } = await runBehindPooler('dist/cli/doctor.js');
  expect(output).toContain('✗ Connections to PostgreSQL: a pooler gives each transaction another one');
  expect(status).toBe(1);
});

test('a database that lacks letters is refused before it is migrated', async () => {
  const name = 'test_latin1';
  const admin = createPostgres({ DATABASE_URL: withPath(inject('engines').postgresSuperuser, 'postgres') });
  await admin.raw(`CREATE DATABASE ${name} ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0`);
  const config = { DATABASE_URL: withPath(inject('engines').postgresSuperuser, name) };
  await expect(migratePostgres(config)).rejects.toThrow(
    "the database of DATABASE_URL has the encoding LATIN1, which lacks most letters: create it with ENCODING 'UTF8'",
  );
  await admin.raw(`DROP DATABASE ${name}`);
  await admin.destroy();
});
