// One process at a time: erasures wait for each other in batches instead of running side by side.
import { setTimeout as delay } from 'node:timers/promises';
import type { Postgres } from '../platform/postgres/client.js';

const POLL_MS = 100;

/** Any number, as long as each is another. */
const LOCKS = { erasure: 4_726_101, purge: 4_726_102, projects: 4_726_103 } as const;

/**
 * Runs `work` when it has its turn. The lock is PostgreSQL's and ends with the connection, so that of a process that was killed
 * nothing is left to wait for. Asked for again and again, since a statement that waits would keep rows alive that are to go.
 */
export async function inTurn<T>(
  postgres: Postgres,
  turn: { of: keyof typeof LOCKS; signal: AbortSignal },
  work: () => Promise<T>,
): Promise<T> {
  return postgres.transaction(async (transaction) => {
    for (;;) {
      const { rows } = await transaction.raw<{ rows: { mine: boolean }[] }>(
        'SELECT pg_try_advisory_xact_lock(?) AS mine',
        [LOCKS[turn.of]],
      );
      if (rows[0]?.mine === true) return work();
      await delay(POLL_MS, undefined, { signal: turn.signal });
    }
  });
}
