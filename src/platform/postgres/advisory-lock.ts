// PostgreSQL advisory locks: one process at a time works on erasures, purges, deletions and so on,
// in batches.
import { setTimeout as delay } from 'node:timers/promises';
import { isTransientError } from '../transient-errors.js';
import type { Postgres } from './client.js';

const POLL_MS = 100;

/** Arbitrary numbers, which must be distinct. */
const LOCKS = {
  erasure: 4_726_101,
  purge: 4_726_102,
  projects: 4_726_103,
  projectPurge: 4_726_105,
  catalogs: 4_726_106,
  keeping: 4_726_107,
  moves: 4_726_108,
  shards: 4_726_109,
  migrations: 4_726_110,
} as const;

export interface HeldLock {
  /** Throws when the connection has ended, and the lock with it. */
  readonly requireHeld: () => Promise<void>;
}

/**
 * Runs `work` under the lock. The lock ends with its connection, so a killed process leaves none
 * behind. It is a session lock that is polled: a transaction, or a statement that waits, would keep
 * VACUUM from removing the rows that are deleted meanwhile.
 */
export async function withAdvisoryLock<T>(
  postgres: Postgres,
  lock: {
    of: keyof typeof LOCKS;
    /** Ends the wait for the lock. */
    signal?: AbortSignal;
    /** Called when another process has it. */
    onWait?: () => void;
  },
  work: (held: HeldLock) => Promise<T>,
): Promise<T> {
  const connection: unknown = await postgres.client.acquireConnection();
  try {
    for (let polls = 0; !(await tryLock(postgres, connection, LOCKS[lock.of])); polls += 1) {
      if (polls === 0) lock.onWait?.();
      await delay(POLL_MS, undefined, { signal: lock.signal });
    }
    return await runHeld(postgres, { connection, key: LOCKS[lock.of] }, work);
  } finally {
    await postgres.client.releaseConnection(connection);
  }
}

/** Runs `work` under the lock, or resolves with undefined when another process has it. */
export async function withFreeAdvisoryLock<T>(
  postgres: Postgres,
  of: keyof typeof LOCKS,
  work: (held: HeldLock) => Promise<T>,
): Promise<T | undefined> {
  const connection: unknown = await postgres.client.acquireConnection();
  try {
    if (!(await tryLock(postgres, connection, LOCKS[of]))) return undefined;
    return await runHeld(postgres, { connection, key: LOCKS[of] }, work);
  } finally {
    await postgres.client.releaseConnection(connection);
  }
}

export interface LockHolder {
  /** Address and port of its connection, as PostgreSQL knows them. */
  readonly address: string;
  readonly heldForSeconds: number;
}

/**
 * The process that has the lock; undefined when none has. One that is suspended keeps the lock
 * until it goes on or ends.
 */
export async function findLockHolder(postgres: Postgres, of: keyof typeof LOCKS): Promise<LockHolder | undefined> {
  const { rows } = await postgres.raw<{ rows: LockHolder[] }>(
    `SELECT coalesce(host(client_addr) || ':' || client_port, 'a local socket') AS address,
        extract(epoch FROM clock_timestamp() - state_change)::int AS "heldForSeconds"
      FROM pg_locks JOIN pg_stat_activity USING (pid)
      WHERE locktype = 'advisory' AND granted AND objid = ? AND classid = 0
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    [LOCKS[of]],
  );
  return rows[0];
}

async function runHeld<T>(
  postgres: Postgres,
  { connection, key }: { connection: unknown; key: number },
  work: (held: HeldLock) => Promise<T>,
): Promise<T> {
  const requireHeld = async () => void (await postgres.raw('SELECT 1').connection(connection));
  try {
    return await work({ requireHeld });
  } finally {
    await postgres.raw('SELECT pg_advisory_unlock(?)', [key]).connection(connection).catch(unlessLost);
  }
}

/** With its connection the lock has ended. What `work` has thrown says why. */
function unlessLost(error: unknown): void {
  if (!isTransientError(error)) throw error;
}

async function tryLock(postgres: Postgres, connection: unknown, key: number): Promise<boolean> {
  const { rows } = await postgres
    .raw<{ rows: { mine: boolean }[] }>('SELECT pg_try_advisory_lock(?) AS mine', [key])
    .connection(connection);
  return rows[0]?.mine === true;
}
