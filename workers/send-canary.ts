// Scheduled canary: every minute one event of the canary project of each shard takes the normal
// path, and is polled until queries see it.
import { setTimeout as delay } from 'node:timers/promises';
import {
  CANARY_EVERY_MS,
  type Canary,
  canaryProjectOf,
  recordSent,
  recordStored,
  toCanaryEnvelope,
} from '../src/ingest/canary.js';
import { enqueueIngest, IngestQueues } from '../src/ingest/queue.js';
import { type ClickHouseClient, READ_ONLY } from '../src/platform/clickhouse/client.js';
import type { Shard } from '../src/platform/clickhouse/shards.js';
import { abortAfter } from '../src/platform/flow/abort-after.js';
import type { Needs } from './runtime.js';
import { defineScheduledJob } from './scheduled-job.js';

const LOOK_EVERY_MS = 50;
// Give up when the next one is due; until one arrives, the lag metric keeps growing.
const LOOK_FOR_MS = CANARY_EVERY_MS - 5000;

export const startCanary = defineScheduledJob({
  name: 'canary',
  everyMs: CANARY_EVERY_MS,
  open({ redis, shards, log }: Needs<'redis' | 'shards' | 'log'>, signal) {
    const queues = new IngestQueues(redis);
    return {
      run: async () => void (await Promise.all(shards.known.map(send))),
      close: () => queues.close(),
    };

    async function send({ id, clickhouse }: Shard): Promise<void> {
      const canary = await recordSent(redis, id, Date.now());
      const [prompt] = queues.of(id);
      const shard = shards.known.length === 1 ? undefined : id;
      await enqueueIngest(prompt, redis, { items: [toCanaryEnvelope(canary)], weight: 1, shard });
      const storedAt = await lookFor(clickhouse, canary, signal);
      if (storedAt !== undefined) await recordStored(redis, canary, storedAt);
      else if (!signal.aborted) log.warn({ sentAt: canary.sentAt, shard: id }, 'the canary event has not arrived');
    }
  },
});

async function lookFor(
  clickhouse: ClickHouseClient,
  canary: Canary,
  closing: AbortSignal,
): Promise<number | undefined> {
  const query = {
    query: `SELECT 1 FROM events
      WHERE project_id = {project:UUID} AND event_type = 'canary'
        AND time = fromUnixTimestamp64Milli({time:Int64}) AND insert_id = {insertId:String}`,
    query_params: { project: canaryProjectOf(canary.shard), time: canary.sentAt, insertId: canary.insertId },
    clickhouse_settings: READ_ONLY,
    format: 'JSONEachRow',
  } as const;
  // A server that never replies would hold up the next canaries of the others.
  const over = abortAfter(LOOK_FOR_MS, closing);
  while (!over.aborted) {
    // The connection may also break within the answer.
    const rows = await clickhouse
      .query({ ...query, abort_signal: over })
      .then((result) => result.json())
      .catch(() => []);
    if (rows.length > 0) return Date.now();
    await delay(LOOK_EVERY_MS, undefined, { signal: over }).catch(() => {});
  }
  return undefined;
}
