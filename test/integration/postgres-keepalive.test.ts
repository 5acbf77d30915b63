// Connections to PostgreSQL: the server notices a machine that has vanished within minutes, and
// frees the locks of its connections.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createPostgres } from '../../src/platform/postgres/client.js';
import { createTestDatabases, type TestDatabases } from '../support/stack.js';

let databases: TestDatabases;

beforeAll(async () => {
  databases = await createTestDatabases();
});
afterAll(() => databases.close());

test.each([{}, { answerMs: 10_000 }])('the server probes an idle connection of %j every minute', async (options) => {
  const postgres = createPostgres(databases.config, { poolMax: 1, ...options });
  try {
    const read = async (name: string) => Object.values((await postgres.raw(`SHOW ${name}`)).rows[0]);
    expect(await read('tcp_keepalives_idle')).toEqual(['60']);
    expect(await read('tcp_keepalives_interval')).toEqual(['10']);
    expect(await read('tcp_keepalives_count')).toEqual(['3']);
  } finally {
    await postgres.destroy();
  }
});
