// Worker of exports: streams events of a person or of a project from ClickHouse, or its identities
// from PostgreSQL, to the web process that requested them, with back-pressure. Every job starts at
// once; fair-places.ts limits and orders the concurrent reads.
import { ClickHouseError } from '@clickhouse/client';
import { type Job, Worker } from 'bullmq';
import { Shards } from '../src/platform/clickhouse/shards.js';
import { FairPlaces } from '../src/platform/flow/fair-places.js';
import { ChunkSender } from '../src/platform/redis/chunk-channel.js';
import { logErrors } from '../src/platform/redis/log-errors.js';
import { exportIdentities } from '../src/privacy/export-identities.js';
import { EXPORT_QUEUE, type ExportJob } from '../src/privacy/export-queue.js';
import { decodeExportRequest } from '../src/privacy/export-request.js';
import { exportEvents } from '../src/privacy/export-store.js';
import { isProjectDeleted } from '../src/privacy/project-store.js';
import type { Needs, RunningJob } from './runtime.js';

// A deploy lets short exports finish; a longer one is aborted, and the client requests it again.
const GRACE_MS = 10_000;
const REQUEST_TIMEOUT_MS = 300_000;
const CONNECTIONS_BESIDE = 2;
// A worker may serve several web processes; a job that no worker starts within seconds is answered
// 503.
const WEB_PROCESSES_SERVED = 4;

type ExportNeeds = Needs<
  'postgres' | 'redis' | 'log',
  'CLICKHOUSE_URL' | 'CLICKHOUSE_DATABASE' | 'EXPORTS_MAX' | 'EXPORTS_OPEN_MAX' | 'QUERY_MEMORY_BYTES'
>;

export function startExportWorker({ config, postgres, redis, log }: ExportNeeds): RunningJob {
  const stopping = new AbortController();
  // Connections of its own, so that slow readers do not hold those used for inserts.
  const shards = new Shards(config, {
    ...{ postgres, log },
    maxConnections: config.EXPORTS_MAX + CONNECTIONS_BESIDE,
    requestTimeoutMs: REQUEST_TIMEOUT_MS,
  });
  const places = new FairPlaces(config.EXPORTS_MAX);

  async function sendAll(sender: ChunkSender): Promise<void> {
    const signal = AbortSignal.any([sender.signal, stopping.signal]);
    const request = decodeExportRequest(sender.request);
    const { projectId } = request;
    if (request.kind === 'identities') {
      for await (const lines of exportIdentities({ postgres, places }, projectId, signal)) await sender.send(lines);
    } else {
      const { at, epoch } = await shards.homeOf(projectId);
      const source = { clickhouse: at.clickhouse, memoryBytes: config.QUERY_MEMORY_BYTES, places, log };
      for await (const lines of exportEvents(source, request, signal)) await sender.send(lines);
      // A move deletes the rows at the old shard, perhaps while they were read.
      const { epoch: epochNow } = await shards.homeOf(projectId);
      if (epochNow !== epoch) throw new Error('the project was moved to another shard meanwhile');
    }
    if (await isProjectDeleted(postgres, projectId)) throw new Error('the project was deleted meanwhile');
    await sender.end();
  }

  async function process(job: Job<ExportJob>): Promise<void> {
    const sender = await ChunkSender.open(redis, job.data.channel);
    if (sender === undefined) return;
    try {
      await sendAll(sender);
    } catch (error) {
      if (!sender.signal.aborted) log.error({ err: withoutParameters(error), export: job.id }, 'an export failed');
      await sender.fail();
    } finally {
      sender.close();
    }
  }

  const worker = new Worker<ExportJob, void>(EXPORT_QUEUE, process, {
    connection: redis.duplicate(),
    concurrency: config.EXPORTS_OPEN_MAX * WEB_PROCESSES_SERVED,
    removeOnComplete: { count: 0 },
    removeOnFail: { count: 0 },
  });
  logErrors(worker, { log, message: 'the export worker lost touch with redis' });
  return {
    async close() {
      const grace = setTimeout(() => stopping.abort(), GRACE_MS);
      await worker.close();
      clearTimeout(grace);
      await shards.close();
    },
  };
}

/**
 * ClickHouse messages may quote query parameters, which contain ids of people, so only the code and
 * type are logged.
 */
const withoutParameters = (error: unknown): unknown =>
  error instanceof ClickHouseError ? { code: error.code, type: error.type } : error;
