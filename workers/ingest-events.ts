// Worker of ingestion: inserts the events of ingest jobs into ClickHouse. Many jobs run
// concurrently and their rows share inserts; a job ends only after ClickHouse has acknowledged its
// rows, and its payload is deleted only after the job has ended. Each shard has a pair of queues
// with places and memory of their own; where a project lives is looked up when its events are
// stored.
import { availableParallelism } from 'node:os';
import { DelayedError, type Job, UnrecoverableError, WaitingError } from 'bullmq';
import { CatalogRecorder } from '../src/catalog/recorder.js';
import { decodeEnvelopes, type Envelope } from '../src/ingest/envelope.js';
import { insertEvents, partitionOf } from '../src/ingest/insert/ingest-partition.js';
import { isolateRejected } from '../src/ingest/insert/isolate-rejected.js';
import { groupByMonths, quarterOf } from '../src/ingest/insert/months.js';
import { deleteHostless } from '../src/ingest/insert/replace-hostless.js';
import {
  type AcceptedEvent,
  monthsOf,
  type ParsedEnvelope,
  parseEnvelope,
  replayParsed,
} from '../src/ingest/insert/replay-events.js';
import { EventBlock } from '../src/ingest/insert/row.js';
import { createInsertMetrics } from '../src/ingest/metrics.js';
import { deletePayload, projectOfJob, replacePayload, type Shares, sharesOf } from '../src/ingest/payloads.js';
import { PLACEMENT_VERSION, PlacementCache } from '../src/ingest/placement-cache.js';
import { type IngestJob, ingestQueuesOf } from '../src/ingest/queue.js';
import { isBadData } from '../src/platform/clickhouse/failures.js';
import { REGISTRY_EVERY_MS, type Shard } from '../src/platform/clickhouse/shards.js';
import { nameFailure } from '../src/platform/errors.js';
import { BatchWriter, type Turn } from '../src/platform/flow/batch-writer.js';
import { BOUNDS } from '../src/platform/flow/bounds.js';
import { ByteSemaphore } from '../src/platform/flow/byte-semaphore.js';
import { LargeWrites } from '../src/platform/flow/large-writes.js';
import { groupBy } from '../src/platform/group-by.js';
import { DURABLE_WORKER_OPTIONS } from '../src/platform/redis/durable-job-options.js';
import { isLeaseLost, type Lease, LeasedWorker } from '../src/platform/redis/leased-worker.js';
import { logErrors } from '../src/platform/redis/log-errors.js';
import { createIdHash } from '../src/privacy/id-hash.js';
import { ErasureTombstones, TOMBSTONE_VERSION } from '../src/privacy/tombstones.js';
import type { Needs, RunningJob } from './runtime.js';

// Share of the payload bytes that is reserved for the prompt queue.
const PROMPT_SHARE = 1 / 4;

/** Events of a project that is being moved wait this long. */
const MOVING_DELAY_MS = 1_000;

/** Large inserts of a worker at once, by partition. A hung server delays others by 2 s at most. */
const LARGE_WRITES = { max: Math.max(1, Math.floor(availableParallelism() / 2)), holdMs: 2_000 };

type EventWriter = BatchWriter<HeldBlock>;

/** Rows with the leases of their jobs. */
class HeldBlock extends EventBlock {
  readonly leases = new Set<Lease>();

  /** Throws LeaseLost when any job may belong to another worker. */
  requireHeld(): void {
    for (const lease of this.leases) lease.require();
  }
}

type IngestNeeds = Needs<
  'shards' | 'postgres' | 'redis' | 'metrics' | 'log',
  | 'SECRET_KEY_BASE'
  | 'CLICKHOUSE_DATABASE'
  | 'INGEST_PARTITIONS'
  | 'INGEST_FLUSH_ROWS'
  | 'INGEST_FLUSH_DELAY_MIN_MS'
  | 'INGEST_FLUSH_DELAY_MAX_MS'
>;

export async function startIngestWorker(deps: IngestNeeds): Promise<RunningJob> {
  const { config, shards, redis, log } = deps;
  const catalogs = new CatalogRecorder(deps);
  const hasManyValues = catalogs.hasManyValues.bind(catalogs);
  const metrics = createInsertMetrics(deps.metrics);
  const forgotten = new ErasureTombstones(redis, createIdHash(config.SECRET_KEY_BASE));
  const placements = new PlacementCache(shards);
  const writers = new Map<string, EventWriter>();
  /** By partition: INGEST_PARTITIONS says how many inserts of a server may run at once. */
  const largeWrites = new Map<number, LargeWrites>();
  /** The backlog shares of stored jobs, which are subtracted when their payloads are deleted. */
  const sharesOfJobs = new WeakMap<Job<IngestJob>, Shares>();
  let isClosing = false;

  function writerOf(shard: Shard, projectId: string): EventWriter {
    const partition = partitionOf(projectId, config.INGEST_PARTITIONS);
    const key = `${shard.id}:${partition}`;
    const known = writers.get(key);
    if (known !== undefined) return known;
    const large = largeWrites.get(partition) ?? new LargeWrites(LARGE_WRITES);
    largeWrites.set(partition, large);
    const writer = new BatchWriter<HeldBlock>({
      createBlock: () => new HeldBlock(hasManyValues),
      write: async (block, signal) => {
        const insert = { partition, block: block.encode(), database: config.CLICKHOUSE_DATABASE, signal };
        const names = block.names.projects;
        // An insert that failed is tried again here, when the shard may have another address.
        const { clickhouse, writer: lock } = shards.current(shard);
        // Names of jobs that another worker has taken over may have been erased meanwhile.
        block.requireHeld();
        await catalogs.announce(names);
        try {
          await metrics.insert(block.rows, () =>
            insertEvents(clickhouse, {
              ...insert,
              requireHeld: () => block.requireHeld(),
              ...(lock && { writer: lock }),
            }),
          );
        } catch (error) {
          if (isLeaseLost(error)) await catalogs.retract(names.keys());
          throw error;
        }
        await catalogs.record(names);
      },
      // The rows of the jobs that are still held are then stored without the others.
      isRefused: (error) => isBadData(error) || isLeaseLost(error),
      rowsMax: config.INGEST_FLUSH_ROWS,
      delayMs: { min: config.INGEST_FLUSH_DELAY_MIN_MS, max: config.INGEST_FLUSH_DELAY_MAX_MS },
      capacityRows: config.INGEST_FLUSH_ROWS * BOUNDS.ingestBatches,
      largeWrites: large,
      log,
    });
    writers.set(key, writer);
    return writer;
  }

  async function storeEnvelopes(writer: EventWriter, envelopes: readonly Envelope[], running: Running): Promise<void> {
    await writer.room(running.turn);
    // Parsed events are many times the size of their bytes, so a retry parses the bytes again.
    let parsed: ParsedEnvelope[] | undefined = envelopes.map(parseEnvelope);
    if (!monthsOf(parsed).areFew) {
      parsed = undefined;
      return storeByQuarter(writer, envelopes, running);
    }
    await writer.add((block) => {
      block.leases.add(running.lease);
      for (const envelope of parsed ?? envelopes.map(parseEnvelope)) {
        replayParsed(envelope, (event) => block.add(event, envelope.isAscii));
      }
      parsed = undefined;
    });
  }

  /** Newest first: the prompt queue waits only for the newest. */
  async function storeByQuarter(
    writer: EventWriter,
    envelopes: readonly Envelope[],
    { turn, lease }: Running,
  ): Promise<void> {
    const groups = groupByMonths(readEvents(envelopes));
    for (let index = 0; index < groups.length; index += 1) {
      const kind = String(quarterOf(groups[index]?.[0]?.time ?? 0));
      if (index > 0) await writer.room({ ...turn, kind, isPrompt: false });
      let events: ReadEvent[] | undefined = groups[index];
      await writer.add((block) => {
        block.leases.add(lease);
        for (const { event, isAscii } of events ?? groupByMonths(readEvents(envelopes))[index] ?? []) {
          block.add(event, isAscii);
        }
        events = undefined;
        groups[index] = [];
      });
    }
  }

  async function envelopesToStore(accepted: Envelope[], tombstone: Buffer | null | undefined): Promise<Envelope[]> {
    if (!tombstone) return accepted;
    const { envelopes, removed } = await forgotten.removeEvents(accepted, tombstone.toString());
    metrics.forgotten.inc(removed.length);
    return envelopes;
  }

  async function processJob(
    job: Job<IngestJob>,
    { budget, ...held }: { budget: ByteSemaphore; token: string; lease: Lease },
  ): Promise<void> {
    const bytes = job.data.bytes ?? 0;
    const project = projectOfJob(job.id ?? '');
    await budget.acquire(bytes, project);
    try {
      if (isClosing) await returnToQueue(job, held.token);
      await storePayload(job, { ...held, turn: { key: project ?? '', isPrompt: project === undefined } });
    } catch (err) {
      if (isLeaseLost(err)) log.warn({ err, job: job.id }, 'a job is left to other workers');
      throw err;
    } finally {
      budget.release(bytes);
    }
  }

  async function storePayload(job: Job<IngestJob>, running: Running): Promise<void> {
    const { lease, token } = running;
    // Read in one command, after the job has been marked active: see tombstones.ts and
    // placement-cache.ts.
    const [bytes, tombstone, version] = await redis.mgetBuffer(job.data.claim, TOMBSTONE_VERSION, PLACEMENT_VERSION);
    if (!bytes) throw new UnrecoverableError(`the events of the job are missing: ${job.data.claim}`);
    const accepted = decodeEnvelopes(bytes);
    const envelopes = await envelopesToStore(accepted, tombstone);
    const projects = new Set(envelopes.map(({ header }) => header.p));
    const placementOf = await placements.of(projects, version?.toString() ?? null);
    const moving = envelopes.filter(({ header }) => placementOf(header.p).isMoving);
    const settled = moving.length === 0 ? envelopes : envelopes.filter((envelope) => !moving.includes(envelope));
    const shardOf = new Map<string, Shard>();
    for (const id of projects) shardOf.set(id, await shards.get(placementOf(id).shard));
    for (const [shard, some] of groupBy(settled, ({ header }) => shardOf.get(header.p))) {
      lease.require();
      if (shard !== undefined) await deleteHostless(shard.clickhouse, some);
    }
    const store = (some: readonly Envelope[]) => storeAll(some, { shardOf, running });
    let refused: readonly Envelope[] = [];
    let reason = '';
    try {
      await store(settled);
    } catch (error) {
      if (!isBadData(error)) throw error;
      reason = nameFailure(error);
      refused = await isolateRejected(settled, { store, isRefused: isBadData });
    }
    lease.require();
    if (moving.length > 0) await keepForLater(job, { accepted, kept: [...refused, ...moving], token });
    if (refused.length > 0) await keepRejected(job, { accepted, refused, of: countEvents(envelopes), reason });
    sharesOfJobs.set(job, sharesOf(accepted));
  }

  async function storeAll(
    envelopes: readonly Envelope[],
    { shardOf, running }: { shardOf: ReadonlyMap<string, Shard>; running: Running },
  ): Promise<void> {
    const envelopesByWriter = groupBy(envelopes, ({ header }) =>
      writerOf(shardOf.get(header.p) ?? shards.first, header.p),
    );
    await Promise.all([...envelopesByWriter].map(([writer, some]) => storeEnvelopes(writer, some, running)));
  }

  /** The job runs again with the envelopes that could not be stored now; all others are stored. */
  async function keepForLater(
    job: Job<IngestJob>,
    { accepted, kept, token }: { accepted: readonly Envelope[]; kept: readonly Envelope[]; token: string },
  ): Promise<never> {
    if (kept.length < accepted.length) await replacePayload(redis, job.data.claim, { from: accepted, to: kept });
    await job.moveToDelayed(Date.now() + MOVING_DELAY_MS, token);
    throw new DelayedError();
  }

  /**
   * The valid events are stored; the job becomes a dead letter that holds only the rejected ones.
   */
  async function keepRejected(
    job: Job<IngestJob>,
    rejected: { accepted: readonly Envelope[]; refused: readonly Envelope[]; of: number; reason: string },
  ): Promise<never> {
    const { accepted, refused, of, reason } = rejected;
    const events = countEvents(refused);
    await catalogs.retract(new Set(refused.map(({ header }) => header.p)));
    await replacePayload(redis, job.data.claim, { from: accepted, to: refused });
    const requests = refused.flatMap(({ header }) => header.r ?? []);
    await job.updateData({ ...job.data, events, requests });
    // Retrying rejected rows cannot succeed. Only the kind of error is kept, because the message
    // may quote rows.
    throw new UnrecoverableError(`${events} of ${of} events were refused: ${reason}`);
  }

  function startWorker(queue: string, budget: ByteSemaphore): LeasedWorker<IngestJob> {
    const worker = new LeasedWorker<IngestJob>(queue, (job, held) => processJob(job, { budget, ...held }), {
      connection: redis.duplicate(),
      concurrency: BOUNDS.ingestJobs,
      ...DURABLE_WORKER_OPTIONS,
    });
    worker.on('completed', (job) => {
      // If this fails, the payload is swept later.
      deletePayload(redis, job.data.claim, sharesOfJobs.get(job) ?? new Map()).catch((err: unknown) =>
        log.warn({ err }, 'the payload of a finished job could not be deleted'),
      );
    });
    worker.on('failed', (job, err) =>
      log.error({ err, job: job?.id, requests: job?.data.requests }, 'an ingest job failed'),
    );
    logErrors(worker, { log, message: 'the ingest worker lost touch with redis' });
    return worker;
  }

  const workers: LeasedWorker<IngestJob>[] = [];
  /** Payload bytes in memory, by shard. */
  const budgets = new Map<number, readonly [prompt: ByteSemaphore, bulk: ByteSemaphore]>();
  function startShards(): void {
    const payloadBytes = BOUNDS.ingestPayloadBytes / shards.known.length;
    const [promptBytes, bulkBytes] = [payloadBytes * PROMPT_SHARE, payloadBytes * (1 - PROMPT_SHARE)];
    // A new shard takes its part from the others.
    for (const [prompt, bulk] of budgets.values()) {
      prompt.bytesMax = promptBytes;
      bulk.bytesMax = bulkBytes;
    }
    for (const { id } of shards.known.filter((shard) => !budgets.has(shard.id))) {
      const [prompt, bulk] = [new ByteSemaphore(promptBytes), new ByteSemaphore(bulkBytes)];
      budgets.set(id, [prompt, bulk]);
      const [promptQueue, bulkQueue] = ingestQueuesOf(id);
      workers.push(startWorker(promptQueue, prompt), startWorker(bulkQueue, bulk));
    }
  }
  // Without PostgreSQL, only the first shard is known until the next look.
  await shards.read().catch((err: unknown) => log.warn({ err }, 'the shards could not be read'));
  startShards();
  const timer = setInterval(startShards, REGISTRY_EVERY_MS);
  timer.unref();

  return {
    async close() {
      isClosing = true;
      clearInterval(timer);
      const closed = workers.map((worker) => worker.close());
      await Promise.all([...writers.values()].map((writer) => writer.close()));
      await Promise.all(closed);
    },
  };
}

interface Running {
  readonly turn: Turn;
  /** Token of the job's lock. */
  readonly token: string;
  readonly lease: Lease;
}

/** A job that was not started waits for another worker. */
async function returnToQueue(job: Job<IngestJob>, token: string): Promise<never> {
  await job.moveToWait(token);
  throw new WaitingError();
}

const countEvents = (envelopes: readonly Envelope[]): number =>
  envelopes.reduce((sum, { header }) => sum + header.n, 0);

interface ReadEvent {
  readonly time: number;
  readonly event: AcceptedEvent;
  readonly isAscii: boolean;
}

function readEvents(envelopes: readonly Envelope[]): ReadEvent[] {
  const events: ReadEvent[] = [];
  for (const envelope of envelopes.map(parseEnvelope)) {
    const { isAscii } = envelope;
    replayParsed(envelope, (event) => events.push({ time: event.time, event, isAscii }));
  }
  return events;
}
