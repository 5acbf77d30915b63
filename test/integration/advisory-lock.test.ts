// A lock whose connection ends while its work runs, as when PostgreSQL is started again.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { withAdvisoryLock, withFreeAdvisoryLock } from '../../src/platform/postgres/advisory-lock.js';
import { createPostgres, type Postgres } from '../../src/platform/postgres/client.js';
import { createTestDatabases, type TestDatabases } from '../support/stack.js';

const { signal } = new AbortController();

let databases: TestDatabases;
let postgres: Postgres;

beforeAll(async () => {
  databases = await createTestDatabases();
  postgres = createPostgres(databases.config);
});

afterAll(async () => {
  await postgres?.destroy();
  await databases?.close();
});

const endLocks = () =>
  postgres.raw(`SELECT pg_terminate_backend(pid) FROM pg_locks
    WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`);

/** A process of its own: its connections are others than those that end the lock. */
async function asOther<T>(work: (postgres: Postgres) => Promise<T>): Promise<T> {
  const other = createPostgres(databases.config);
  return work(other).finally(() => other.destroy());
}

test('what the work has thrown is thrown', async () => {
  const work = async () => {
    await endLocks();
    throw new Error('the work failed');
  };
  const locked = asOther((other) => withAdvisoryLock(other, { of: 'keeping', signal }, work));
  await expect(locked).rejects.toThrow('the work failed');
  const free = asOther((other) => withFreeAdvisoryLock(other, 'keeping', work));
  await expect(free).rejects.toThrow('the work failed');
});

test('work that was done stays done, and the lock is free', async () => {
  const work = async () => {
    await endLocks();
    return 'done';
  };
  expect(await asOther((other) => withAdvisoryLock(other, { of: 'keeping', signal }, work))).toBe('done');
  expect(await asOther((other) => withFreeAdvisoryLock(other, 'keeping', async () => 'free'))).toBe('free');
});
