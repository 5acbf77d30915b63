// Rights of the account in ClickHouse: each that is missing is named, by the doctor as well.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findMissingRights } from '../../src/platform/clickhouse/account.js';
import { createClickHouse, type StatementSettings } from '../../src/platform/clickhouse/client.js';
import { createDatabase } from '../../src/platform/clickhouse/migrate.js';
import { runScript } from '../support/run-script.js';
import { createTestDatabases, type TestDatabases } from '../support/stack.js';

/** A database that the account of the tests does not own. */
const FOREIGN = 'system';
const MISSING = ['SELECT', 'INSERT', 'ALTER', 'CREATE TABLE', 'CREATE VIEW', 'DROP TABLE'].map(
  (right) => `no ${right} on its database`,
);

let databases: TestDatabases;

beforeAll(async () => {
  databases = await createTestDatabases();
});

afterAll(() => databases?.close());

async function missingOf(database: string, settings: StatementSettings = {}): Promise<string[]> {
  const config = { ...databases.config, CLICKHOUSE_DATABASE: database };
  const clickhouse = createClickHouse(config, { settings });
  try {
    return await findMissingRights(clickhouse);
  } finally {
    await clickhouse.close();
  }
}

test('the account that `npm start` creates has all of them', async () => {
  expect(await missingOf(databases.config.CLICKHOUSE_DATABASE)).toEqual([]);
});

test('rights on its database that it does not have are named', async () => {
  expect(await missingOf(FOREIGN)).toEqual(expect.arrayContaining(MISSING));
});

test.each([
  [{ readonly: '2' }, 'readonly = 2 in its profile'],
  [{ allow_ddl: 0 }, 'allow_ddl = 0 in its profile'],
] as const)('with %o in its profile, that setting is named', async (settings, found) => {
  expect(await missingOf(databases.config.CLICKHOUSE_DATABASE, settings)).toEqual([found]);
});

test('a database that exists needs no right to create one', async () => {
  const { CLICKHOUSE_URL: url } = databases.config;
  await createDatabase(url, FOREIGN);
  await expect(createDatabase(url, 'foreign_database')).rejects.toThrow('Not enough privileges');
});

test('the doctor names them, and ends with an error', async () => {
  const { status, output } = await runScript(['dist/cli/doctor.js'], {
    ...databases.env,
    CLICKHOUSE_DATABASE: FOREIGN,
  });
  expect(output).toMatch(
    /✗ Account of ClickHouse: .*no INSERT on its database, no ALTER on its database.*\n +→ give it/,
  );
  expect(status).toBe(1);
});
