// Shared dependencies of the erasure, purge and project deletion jobs. They have their own
// PostgreSQL pool, because concurrent erasures and advisory locks would use up the connections of
// other jobs.
import { createIdentifyQueue } from '../src/identity/queue.js';
import { createMailQueue } from '../src/mail/queue.js';
import { createPostgres } from '../src/platform/postgres/client.js';
import type { ErasureDeps } from '../src/privacy/erase-people.js';
import { createIdHash } from '../src/privacy/id-hash.js';
import { ErasureTombstones } from '../src/privacy/tombstones.js';
import type { Needs } from './runtime.js';

export type ErasureNeeds = Needs<
  'shards' | 'redis' | 'metrics' | 'log',
  ErasureSettings | 'SECRET_KEY_BASE' | 'PRIVACY_PURGE_DELAY_MS' | 'PRIVACY_PURGE_BY_MS'
>;
type ErasureSettings = keyof ErasureDeps['config'];

export function openErasure({ config, shards, redis, log }: ErasureNeeds, signal: AbortSignal, poolMax: number) {
  const postgres = createPostgres(config, { poolMax });
  const identifyQueue = createIdentifyQueue(redis);
  const mailQueue = createMailQueue(redis);
  const hashId = createIdHash(config.SECRET_KEY_BASE);
  const forgotten = new ErasureTombstones(redis, hashId);
  return {
    ...{ config, shards, postgres, redis, log, identifyQueue, mailQueue, hashId, forgotten, signal },
    async close(): Promise<void> {
      await identifyQueue.close();
      await mailQueue.close();
      await postgres.destroy();
    },
  };
}
