// One process at a time: erasures wait for each other in batches instead of running side by side.
import { setTimeout as delay } from 'node:timers/promises';
import type { Postgres } from '../platform/postgres/client.js';

const POLL_MS = 100;

/** Any number, as long as each is another. */
export const LOCKS = {
  erasure: 4_726_101,
  purge: 4_726_102,
  projects: 4_726_103,
  tombstones: 4_726_104,
  projectPurge: 4_726_105,
} as const;

/**
 * Runs `work` when it has its turn. The lock is PostgreSQL's and ends with the connection, so that of a process that was killed
 * nothing is left to wait for. Held by a session and asked for again and again: a transaction, or a statement that waits, would
 * keep every row alive that is deleted in the meantime.
 */
export async function withAdvisoryLock<T>(
  postgres: Postgres,
  turn: { of: Exclude<keyof typeof LOCKS, 'tombstones'>; signal: AbortSignal },
  work: () => Promise<T>,
): Promise<T> {
  const connection: unknown = await postgres.client.acquireConnection();
  try {
    while (!(await tryLock(postgres, connection, LOCKS[turn.of]))) {
      await delay(POLL_MS, undefined, { signal: turn.signal });
    }
    try {
      return await work();
    } finally {
      await postgres.raw('SELECT pg_advisory_unlock(?)', [LOCKS[turn.of]]).connection(connection);
    }
  } finally {
    await postgres.client.releaseConnection(connection);
  }
}

async function tryLock(postgres: Postgres, connection: unknown, lock: number): Promise<boolean> {
  const { rows } = await postgres
    .raw<{ rows: { mine: boolean }[] }>('SELECT pg_try_advisory_lock(?) AS mine', [lock])
    .connection(connection);
  return rows[0]?.mine === true;
}
