// How delivery stands: of a project its backlog and dead letters; for operators also the queues of
// the installation and the findings of the doctor. All of it is read from the stores; nothing is
// kept.
import { createIdentifyQueue, type IdentifyQueue, readBacklogs as readCallBacklogs } from '../identity/queue.js';
import { readShardLag } from '../ingest/canary.js';
import { readBacklogs } from '../ingest/payloads.js';
import { NOTHING } from '../platform/flow/backlog.js';
import type { ProjectId } from '../platform/ids.js';
import type { Redis } from '../platform/redis/client.js';
import { readOldestWaitMs } from '../platform/redis/oldest-waiting.js';
import type { Delivery, QueueState } from './answers.js';
import type { Stores } from './checks.js';
import { withQueue } from './dead-letter-jobs.js';
import type { Caller, DeadLetters } from './dead-letters.js';
import { examineAll } from './examine.js';
import { queuesOf } from './queues.js';

const EXAMINED_EVERY_MS = 5000;

export interface DeliverySource {
  readonly read: (caller: Caller) => Promise<Delivery>;
  readonly close: () => Promise<void>;
}

export function createDeliverySource(stores: Stores, deadLetters: DeadLetters): DeliverySource {
  const { redis, shards } = stores;
  const calls = createIdentifyQueue(redis);
  const examine = shared(() => examineAll(stores));
  const readInstallation = async () => {
    const [queues, checks] = await Promise.all([
      Promise.all(queuesOf(shards).map((name) => readQueue(redis, name))),
      examine(),
    ]);
    return { queues, checks };
  };
  return {
    read: async (caller) => {
      const [lag, backlog, failed, installation] = await Promise.all([
        readLagOf(stores, caller),
        readBacklog(redis, calls, caller.projectId),
        deadLetters.list(caller),
        caller.isOperator ? readInstallation() : null,
      ]);
      return {
        lag_seconds: lag ?? null,
        backlog,
        failed: failed.map(({ failedAt, ...job }) => ({ ...job, failed_at: failedAt })),
        installation,
      };
    },
    close: () => calls.close(),
  };
}

/** Lag of the project's shard. */
async function readLagOf({ redis, shards }: Stores, { projectId }: Caller): Promise<number | undefined> {
  return readShardLag(redis, (await shards.homeOf(projectId)).shard);
}

async function readBacklog(redis: Redis, calls: IdentifyQueue, projectId: ProjectId): Promise<Delivery['backlog']> {
  const [ofEvents, ofCalls] = await Promise.all([readBacklogs(redis), readCallBacklogs(calls, redis)]);
  return {
    events_bytes: Math.max(0, (ofEvents.get(projectId) ?? NOTHING).bytes),
    calls_bytes: Math.max(0, (ofCalls.get(projectId) ?? NOTHING).bytes),
  };
}

const readQueue = (redis: Redis, name: string): Promise<QueueState> =>
  withQueue(redis, name, async (queue) => {
    const [counts, oldestWaitMs] = await Promise.all([
      queue.getJobCounts('waiting', 'prioritized', 'active', 'delayed', 'failed'),
      readOldestWaitMs(redis, queue),
    ]);
    return {
      queue: name,
      waiting: (counts.waiting ?? 0) + (counts.prioritized ?? 0),
      active: counts.active ?? 0,
      delayed: counts.delayed ?? 0,
      failed: counts.failed ?? 0,
      oldest_waiting_seconds: oldestWaitMs === undefined ? null : oldestWaitMs / 1000,
    };
  });

/** Calls within a few seconds share one result: the checks ask every store. */
function shared<T>(read: () => Promise<T>): () => Promise<T> {
  let last: { readonly at: number; readonly result: Promise<T> } | undefined;
  return () => {
    const now = performance.now();
    if (last === undefined || now - last.at > EXAMINED_EVERY_MS) last = { at: now, result: read() };
    return last.result;
  };
}
