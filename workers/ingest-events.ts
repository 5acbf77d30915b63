// Worker of ingestion: inserts the events of ingest jobs into ClickHouse. Many jobs run
// concurrently and their rows share inserts; a job ends only after ClickHouse has acknowledged its
// rows, and its payload is deleted only after the job has ended. Each shard has a pair of queues
// with places and memory of their own; where a project lives is looked up when its events are
// stored.
import { DelayedError, type Job, UnrecoverableError, WaitingError } from 'bullmq';
import { CatalogRecorder } from '../src/catalog/recorder.js';
import { decodeEnvelopes, type Envelope } from '../src/ingest/envelope.js';
import { EventWriters, type WriterSettings } from '../src/ingest/insert/event-writers.js';
import { isolateRejected } from '../src/ingest/insert/isolate-rejected.js';
import { PayloadBudgets } from '../src/ingest/insert/payload-budgets.js';
import { deleteHostless } from '../src/ingest/insert/replace-hostless.js';
import { type Holder, storeEnvelopes } from '../src/ingest/insert/store-envelopes.js';
import { createInsertMetrics, type InsertMetrics } from '../src/ingest/metrics.js';
import { deletePayload, projectOfJob, replacePayload, type Shares, sharesOf } from '../src/ingest/payloads.js';
import { PLACEMENT_VERSION, PlacementCache } from '../src/ingest/placement-cache.js';
import { type IngestJob, ingestQueuesOf } from '../src/ingest/queue.js';
import { isBadData } from '../src/platform/clickhouse/failures.js';
import { REGISTRY_EVERY_MS, type Shard } from '../src/platform/clickhouse/shards.js';
import { nameFailure } from '../src/platform/errors.js';
import { BOUNDS } from '../src/platform/flow/bounds.js';
import type { ByteSemaphore } from '../src/platform/flow/byte-semaphore.js';
import { groupBy } from '../src/platform/group-by.js';
import { DURABLE_WORKER_OPTIONS } from '../src/platform/redis/durable-job-options.js';
import { isLeaseLost } from '../src/platform/redis/lease-lost.js';
import { type Lease, LeasedWorker } from '../src/platform/redis/leased-worker.js';
import { logErrors } from '../src/platform/redis/log-errors.js';
import { logFailedJobs } from '../src/platform/redis/log-failed-jobs.js';
import { createRepeatedWarning, type RepeatedWarning } from '../src/platform/repeated-warning.js';
import { createIdHash } from '../src/privacy/id-hash.js';
import { ErasureTombstones, TOMBSTONE_VERSION } from '../src/privacy/tombstones.js';
import type { Needs, RunningJob } from './runtime.js';

/** Events of a project that is being moved wait this long. */
const MOVING_DELAY_MS = 1_000;

type IngestNeeds = Needs<'shards' | 'postgres' | 'redis' | 'metrics' | 'log', 'SECRET_KEY_BASE' | keyof WriterSettings>;

/** Starts the queues of the known shards, and later those of new ones. */
export async function startIngestWorker(deps: IngestNeeds): Promise<RunningJob> {
  const { shards, log } = deps;
  const jobs = new IngestJobs(deps);
  const workers: LeasedWorker<IngestJob>[] = [];
  const budgets = new PayloadBudgets();
  function startShards(): void {
    for (const [id, { prompt, bulk }] of budgets.divideAmong(shards.known.map((shard) => shard.id))) {
      const [promptQueue, bulkQueue] = ingestQueuesOf(id);
      workers.push(startWorker(promptQueue, { jobs, budget: prompt }, deps));
      workers.push(startWorker(bulkQueue, { jobs, budget: bulk }, deps));
    }
  }
  // Without PostgreSQL, only the first shard is known until the next look.
  await shards.read().catch((err: unknown) => log.warn({ err }, 'the shards could not be read'));
  startShards();
  const timer = setInterval(startShards, REGISTRY_EVERY_MS);
  timer.unref();

  return {
    async close() {
      clearInterval(timer);
      const closed = workers.map((worker) => worker.close());
      await jobs.close();
      await Promise.all(closed);
      await jobs.closeCatalogs();
    },
  };
}

function startWorker(
  queue: string,
  { jobs, budget }: { readonly jobs: IngestJobs; readonly budget: ByteSemaphore },
  { redis, log }: Pick<IngestNeeds, 'redis' | 'log'>,
): LeasedWorker<IngestJob> {
  const worker = new LeasedWorker<IngestJob>(queue, (job, held) => jobs.process(job, { budget, ...held }), {
    connection: redis.duplicate(),
    concurrency: BOUNDS.ingestJobs,
    ...DURABLE_WORKER_OPTIONS,
  });
  worker.on('completed', (job) => jobs.forgetPayload(job));
  logFailedJobs(worker, { log, name: 'an ingest job', requestsOf: ({ requests }) => requests });
  logErrors(worker, { log, message: 'the ingest worker lost touch with redis' });
  return worker;
}

/** A started job. */
interface Running extends Holder {
  /** Token of the job's lock. */
  readonly token: string;
}

class IngestJobs {
  readonly #redis: IngestNeeds['redis'];
  readonly #log: IngestNeeds['log'];
  readonly #shards: IngestNeeds['shards'];
  readonly #metrics: InsertMetrics;
  readonly #catalogs: CatalogRecorder;
  readonly #writers: EventWriters;
  readonly #forgotten: ErasureTombstones;
  readonly #placements: PlacementCache;
  /** The backlog shares of stored jobs, which are subtracted when their payloads are deleted. */
  readonly #sharesOfJobs = new WeakMap<Job<IngestJob>, Shares>();
  /** After an outage of Redis, all jobs of the process have lost their leases. */
  readonly #warnOfLease: RepeatedWarning;
  #isClosing = false;

  constructor(deps: IngestNeeds) {
    const { config, shards, redis, log } = deps;
    this.#redis = redis;
    this.#log = log;
    this.#shards = shards;
    this.#warnOfLease = createRepeatedWarning({ log, message: 'a job is left to other workers' });
    this.#metrics = createInsertMetrics(deps.metrics);
    this.#catalogs = new CatalogRecorder(deps);
    this.#writers = new EventWriters({
      settings: config,
      shards,
      catalogs: this.#catalogs,
      metrics: this.#metrics,
      log,
    });
    this.#forgotten = new ErasureTombstones(redis, createIdHash(config.SECRET_KEY_BASE));
    this.#placements = new PlacementCache(shards);
  }

  async process(
    job: Job<IngestJob>,
    { budget, ...held }: { budget: ByteSemaphore; token: string; lease: Lease },
  ): Promise<void> {
    const bytes = job.data.bytes ?? 0;
    const project = projectOfJob(job.id ?? '');
    await budget.acquire(bytes, project);
    try {
      if (this.#isClosing) await returnToQueue(job, held.token);
      await this.#storePayload(job, { ...held, turn: { key: project ?? '', isPrompt: project === undefined } });
    } catch (err) {
      if (isLeaseLost(err)) this.#warnOfLease(err, { job: job.id });
      throw err;
    } finally {
      budget.release(bytes);
    }
  }

  /** If this fails, the payload is swept later. */
  forgetPayload(job: Job<IngestJob>): void {
    deletePayload(this.#redis, job.data.claim, this.#sharesOfJobs.get(job) ?? new Map()).catch((err: unknown) =>
      this.#log.warn({ err }, 'the payload of a finished job could not be deleted'),
    );
  }

  /** Stores what is waiting. Jobs that are not started return to their queues. */
  close(): Promise<void> {
    this.#isClosing = true;
    return this.#writers.close();
  }

  /** After the last job. */
  closeCatalogs(): Promise<void> {
    return this.#catalogs.close();
  }

  async #storePayload(job: Job<IngestJob>, running: Running): Promise<void> {
    const { lease, token } = running;
    // Read in one command, after the job has been marked active: see tombstones.ts and
    // placement-cache.ts.
    const [bytes, tombstone, version] = await this.#redis.mgetBuffer(
      job.data.claim,
      TOMBSTONE_VERSION,
      PLACEMENT_VERSION,
    );
    if (!bytes) throw new UnrecoverableError(`the events of the job are missing: ${job.data.claim}`);
    const accepted = decodeEnvelopes(bytes);
    const envelopes = await this.#envelopesToStore(accepted, tombstone);
    const projects = new Set(envelopes.map(({ header }) => header.p));
    const placementOf = await this.#placements.of(projects, version?.toString() ?? null);
    const moving = envelopes.filter(({ header }) => placementOf(header.p).isMoving);
    const settled = moving.length === 0 ? envelopes : envelopes.filter((envelope) => !moving.includes(envelope));
    const shardOf = new Map<string, Shard>();
    for (const id of projects) shardOf.set(id, await this.#shards.get(placementOf(id).shard));
    for (const [shard, some] of groupBy(settled, ({ header }) => shardOf.get(header.p))) {
      lease.require();
      if (shard !== undefined) await deleteHostless(shard.clickhouse, some);
    }
    const store = (some: readonly Envelope[]) => this.#storeAll(some, { shardOf, running });
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
    if (moving.length > 0) await this.#keepForLater(job, { accepted, kept: [...refused, ...moving], token });
    if (refused.length > 0) await this.#keepRejected(job, { accepted, refused, of: countEvents(envelopes), reason });
    this.#sharesOfJobs.set(job, sharesOf(accepted));
  }

  async #envelopesToStore(accepted: Envelope[], tombstone: Buffer | null | undefined): Promise<Envelope[]> {
    if (!tombstone) return accepted;
    const { envelopes, removed } = await this.#forgotten.removeEvents(accepted, tombstone.toString());
    this.#metrics.forgotten.inc(removed.length);
    return envelopes;
  }

  async #storeAll(
    envelopes: readonly Envelope[],
    { shardOf, running }: { shardOf: ReadonlyMap<string, Shard>; running: Running },
  ): Promise<void> {
    const envelopesByWriter = groupBy(envelopes, ({ header }) =>
      this.#writers.of(shardOf.get(header.p) ?? this.#shards.first, header.p),
    );
    await Promise.all([...envelopesByWriter].map(([writer, some]) => storeEnvelopes(writer, some, running)));
  }

  /** The job runs again with the envelopes that could not be stored now; all others are stored. */
  async #keepForLater(
    job: Job<IngestJob>,
    { accepted, kept, token }: { accepted: readonly Envelope[]; kept: readonly Envelope[]; token: string },
  ): Promise<never> {
    // A job that is of the moving project only runs every second until the move ends.
    if (kept.length < accepted.length) await replacePayload(this.#redis, job.data.claim, { from: accepted, to: kept });
    await job.moveToDelayed(Date.now() + MOVING_DELAY_MS, token);
    throw new DelayedError();
  }

  /**
   * The valid events are stored; the job becomes a dead letter that holds only the rejected ones.
   */
  async #keepRejected(
    job: Job<IngestJob>,
    rejected: { accepted: readonly Envelope[]; refused: readonly Envelope[]; of: number; reason: string },
  ): Promise<never> {
    const { accepted, refused, of, reason } = rejected;
    const events = countEvents(refused);
    await this.#catalogs.retract(new Set(refused.map(({ header }) => header.p)));
    await replacePayload(this.#redis, job.data.claim, { from: accepted, to: refused });
    const requests = refused.flatMap(({ header }) => header.r ?? []);
    await job.updateData({ ...job.data, events, requests });
    // Retrying rejected rows cannot succeed. Only the kind of error is kept, because the message
    // may quote rows.
    throw new UnrecoverableError(`${events} of ${of} events were refused: ${reason}`);
  }
}

/** A job that was not started waits for another worker. */
async function returnToQueue(job: Job<IngestJob>, token: string): Promise<never> {
  await job.moveToWait(token);
  throw new WaitingError();
}

const countEvents = (envelopes: readonly Envelope[]): number =>
  envelopes.reduce((sum, { header }) => sum + header.n, 0);
