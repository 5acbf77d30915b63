// From PostgreSQL to Redis: the tombstones of erasure, by one process at a time. Who read the list early and wrote it late would
// take away what another has added since, and let in the events of whoever was just erased.
import type { Postgres } from '../platform/postgres/client.js';
import type { Redis } from '../platform/redis/client.js';
import { LOCKS } from './advisory-lock.js';
import { listTombstones } from './store.js';
import { writeTombstones } from './tombstones.js';

/** Resolves once Redis holds every tombstone that was committed before this was called. */
export async function publishTombstones({ postgres, redis }: { postgres: Postgres; redis: Redis }): Promise<void> {
  await postgres.transaction(async (transaction) => {
    await transaction.raw('SELECT pg_advisory_xact_lock(?)', [LOCKS.tombstones]);
    await writeTombstones(redis, await listTombstones(transaction));
  });
}
