// Publishes erasure tombstones from PostgreSQL to Redis, one process at a time: a process that read
// the list early and wrote it late would remove a tombstone added since, and let in events of an
// erased person.

import { LOCKS } from '../platform/postgres/advisory-lock.js';
import type { Postgres } from '../platform/postgres/client.js';
import type { Redis } from '../platform/redis/client.js';
import { listTombstones } from './store.js';
import { writeTombstones } from './tombstones.js';

/** Resolves once Redis holds every tombstone that was committed before the call. */
export async function publishTombstones({ postgres, redis }: { postgres: Postgres; redis: Redis }): Promise<void> {
  await postgres.transaction(async (transaction) => {
    await transaction.raw('SELECT pg_advisory_xact_lock(?)', [LOCKS.tombstones]);
    await writeTombstones(redis, await listTombstones(transaction));
  });
}
