// Publishes erasure tombstones from PostgreSQL to Redis. A process that read the list early and
// would write it late, perhaps because it was suspended, must not remove a tombstone added since:
// that would let in events of an erased person. It waits for no other process, and none for it.

import type { Postgres } from '../platform/postgres/client.js';
import type { Redis } from '../platform/redis/client.js';
import { listTombstones } from './store.js';
import { readTombstoneVersion, replaceTombstones } from './tombstones.js';

/** Resolves once Redis holds every tombstone that was committed before the call. */
export async function publishTombstones({ postgres, redis }: { postgres: Postgres; redis: Redis }): Promise<void> {
  for (;;) {
    // Read before the list: a process that changes it meanwhile may have a newer list.
    const before = await readTombstoneVersion(redis);
    if (await replaceTombstones(redis, before, await listTombstones(postgres))) return;
  }
}
