// Scheduled canary: every minute one event of the canary project takes the normal path, and is polled until queries see it.
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'bullmq';
import {
  CANARY_EVERY_MS,
  CANARY_PROJECT,
  type Canary,
  recordSent,
  recordStored,
  toCanaryFrame,
} from '../src/ingest/canary.js';
import { createIngestQueue, enqueueIngest } from '../src/ingest/queue.js';
import { type ClickHouseClient, READ_ONLY } from '../src/platform/clickhouse/client.js';
import { openQueue } from '../src/platform/redis/open-queue.js';
import type { RunningJob, WorkerDeps } from './runtime.js';

const QUEUE = 'canary';
const LOOK_EVERY_MS = 50;
// Give up when the next one is due; until one arrives, the lag metric keeps growing.
const LOOK_FOR_MS = CANARY_EVERY_MS - 5000;

export async function startCanary({ redis, clickhouse, log }: WorkerDeps): Promise<RunningJob> {
  const schedule = openQueue(QUEUE, { connection: redis });
  await schedule.upsertJobScheduler(
    QUEUE,
    { every: CANARY_EVERY_MS },
    { opts: { removeOnComplete: true, removeOnFail: 1 } },
  );
  const ingestQueue = createIngestQueue(redis);
  const closing = new AbortController();
  const worker = new Worker(
    QUEUE,
    async () => {
      const canary = await recordSent(redis, Date.now());
      await enqueueIngest(ingestQueue, redis, { items: [toCanaryFrame(canary)], weight: 1 });
      const storedAt = await lookFor(clickhouse, canary, closing.signal);
      if (storedAt !== undefined) await recordStored(redis, canary, storedAt);
      else log.warn({ sentAt: canary.sentAt }, 'the canary event has not arrived');
    },
    { connection: redis.duplicate() },
  );
  worker.on('error', (err) => log.warn({ err }, 'the canary lost touch with redis'));
  return {
    async close() {
      closing.abort();
      await worker.close();
      await ingestQueue.close();
      await schedule.close();
    },
  };
}

async function lookFor(
  clickhouse: ClickHouseClient,
  canary: Canary,
  closing: AbortSignal,
): Promise<number | undefined> {
  const query = {
    query: `SELECT 1 FROM events
      WHERE project_id = {project:UUID} AND event_type = 'canary'
        AND time = fromUnixTimestamp64Milli({time:Int64}) AND insert_id = {insertId:String}`,
    query_params: { project: CANARY_PROJECT, time: canary.sentAt, insertId: canary.insertId },
    clickhouse_settings: READ_ONLY,
    format: 'JSONEachRow',
  } as const;
  while (!closing.aborted && Date.now() - canary.sentAt < LOOK_FOR_MS) {
    const rows = await clickhouse.query(query).then(
      (result) => result.json(),
      () => [],
    );
    if (rows.length > 0) return Date.now();
    await delay(LOOK_EVERY_MS, undefined, { signal: closing }).catch(() => {});
  }
  return undefined;
}
