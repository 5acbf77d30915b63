// Projects with names that could not be stored, in Redis: they stay until their rebuild has begun,
// also when the worker has ended that found the names. A hash from the id to a token of the last
// miss, so that a miss during a rebuild's beginning is kept. It has one entry of about 100 bytes
// for each project at most, and no names: a rebuild finds those in the stored events.
import { newUuidV7 } from '../platform/ids.js';
import type { Postgres } from '../platform/postgres/client.js';
import type { Redis } from '../platform/redis/client.js';
import { beginGeneration } from './store.js';

const MISSED = 'catalog:missed';
const PROJECTS_AT_A_TIME = 500;

/** Deletes entries whose token is still the same. */
const RELEASE = `
for i = 1, #ARGV, 2 do
  if redis.call('HGET', KEYS[1], ARGV[i]) == ARGV[i + 1] then redis.call('HDEL', KEYS[1], ARGV[i]) end
end
`;

export async function keepMissed(redis: Redis, projectIds: readonly string[]): Promise<void> {
  const token = newUuidV7();
  if (projectIds.length > 0) await redis.hset(MISSED, ...projectIds.flatMap((id) => [id, token]));
}

/** Has the missed projects rebuilt. */
export async function markMissed(postgres: Postgres, redis: Redis): Promise<void> {
  for (;;) {
    const entries = (await redis.hrandfield(MISSED, PROJECTS_AT_A_TIME, 'WITHVALUES')) as string[];
    if (entries.length === 0) return;
    await beginGeneration(
      postgres,
      entries.filter((_, at) => at % 2 === 0),
    );
    await redis.eval(RELEASE, 1, MISSED, ...entries);
  }
}

/** Removes a deleted project. */
export async function forgetMissed(redis: Redis, projectId: string): Promise<void> {
  await redis.hdel(MISSED, projectId);
}
