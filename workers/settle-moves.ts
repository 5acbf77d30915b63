// Scheduled job: ends moves between shards whose command was killed, within seconds.
import { createPostgres } from '../src/platform/postgres/client.js';
import { MOVES_QUEUE } from '../src/shards/queue.js';
import { settleMoves } from '../src/shards/settle-moves.js';
import type { Needs } from './runtime.js';
import { defineScheduledJob } from './scheduled-job.js';

const EVERY_MS = 10_000;
/** The lock holds a connection, beside the one of the work. */
const POOL = 2;

type SettlingNeeds = Needs<'shards' | 'redis' | 'log', 'DATABASE_URL' | 'DATABASE_TLS'>;

export const startMoveSettling = defineScheduledJob({
  name: MOVES_QUEUE,
  everyMs: EVERY_MS,
  open({ config, shards, redis, log }: SettlingNeeds, signal) {
    const postgres = createPostgres(config, { poolMax: POOL });
    return {
      run: () => settleMoves({ postgres, redis, shards, log, signal }),
      close: () => postgres.destroy(),
    };
  },
});
