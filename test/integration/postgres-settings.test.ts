// Connections to PostgreSQL set what the role or the database of an operator may have otherwise:
// the forms of values, limits of time, and probes that notice a machine that has vanished.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createPostgres, type Postgres, type PostgresOptions } from '../../src/platform/postgres/client.js';
import { PINNED_SETTINGS } from '../../src/platform/postgres/pinned-settings.js';
import { createTestDatabases, type TestDatabases } from '../support/stack.js';

let databases: TestDatabases;

beforeAll(async () => {
  databases = await createTestDatabases();
});
afterAll(() => databases.close());

async function onOneConnection<T>(options: PostgresOptions, work: (postgres: Postgres) => Promise<T>): Promise<T> {
  const postgres = createPostgres(databases.config, { poolMax: 1, ...options });
  try {
    return await work(postgres);
  } finally {
    await postgres.destroy();
  }
}

test.each([{}, { answerMs: 10_000 }])('a connection of %j has its own settings', async (options) => {
  const names = Object.keys(PINNED_SETTINGS);
  const rows = await onOneConnection(options, (postgres) =>
    postgres('pg_settings').select('name', 'setting', 'source').whereIn('name', names),
  );
  expect(Object.fromEntries(rows.map(({ name, setting }) => [name, setting]))).toEqual(PINNED_SETTINGS);
  expect(new Set(rows.map(({ source }) => source))).toEqual(new Set(['session']));
});

test('times, days and bytes are read whatever the settings of the role are', async () => {
  const row = await onOneConnection({}, async (postgres) => {
    const time = "timestamptz '2026-03-04 05:06:07.089+00'";
    const { rows } = await postgres.raw(
      `SELECT ${time} AS time, date '2026-03-04'::text AS day, '\\x00ff'::bytea AS bytes, 0.1::float8 + 0.2 AS sum`,
    );
    return rows[0];
  });
  expect(row).toEqual({
    time: new Date('2026-03-04T05:06:07.089Z'),
    day: '2026-03-04',
    bytes: Buffer.from([0, 255]),
    sum: 0.1 + 0.2,
  });
});

test('a session stays while it is idle, and a statement as long as it takes', async () => {
  // The role of these tests ends both after three seconds.
  await onOneConnection({}, async (postgres) => {
    const readPid = async () => (await postgres.raw('SELECT pg_backend_pid() AS pid')).rows[0].pid;
    const pid = await readPid();
    await postgres.raw('SELECT pg_sleep(3.5)');
    await new Promise((resolve) => setTimeout(resolve, 3500));
    expect(await readPid()).toBe(pid);
  });
});
