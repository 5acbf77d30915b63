// Worker of identify calls: writes profiles and mappings to PostgreSQL, and projects them to
// ClickHouse. Waiting jobs share a transaction; each ends only after the commit. The order of jobs
// does not matter.
import { type Job, UnrecoverableError } from 'bullmq';
import { applyBatches, areRefusedCalls, isolateRejectedCalls } from '../src/identity/apply.js';
import { createIdentityWorkerMetrics } from '../src/identity/metrics.js';
import { measureOutbox } from '../src/identity/outbox.js';
import { IDENTIFY_QUEUE, type IdentifyJob, projectOfBatch } from '../src/identity/queue.js';
import { releaseSequence } from '../src/identity/sequence.js';
import { nameFailure } from '../src/platform/errors.js';
import { BatchWriter } from '../src/platform/flow/batch-writer.js';
import { BOUNDS } from '../src/platform/flow/bounds.js';
import { DURABLE_WORKER_OPTIONS } from '../src/platform/redis/durable-job-options.js';
import { LeasedWorker } from '../src/platform/redis/leased-worker.js';
import { logErrors } from '../src/platform/redis/log-errors.js';
import { isDeadLetter, logFailedJobs } from '../src/platform/redis/log-failed-jobs.js';
import { createIdHash } from '../src/privacy/id-hash.js';
import { startIdentityProjector } from './project-identities.js';
import type { Needs, RunningJob } from './runtime.js';

// The fixed cost of a call, in bytes.
const CALL_BYTES = 512;

/** A batch whose calls are applied in one transaction or in several. */
interface Applying {
  /** The job with the calls that are left. */
  job: IdentifyJob;
}

class Batches {
  readonly batches: Applying[] = [];
  /** Number of calls. */
  rows = 0;
  /** Cost in small calls, so that a transaction of large calls has fewer. */
  cost = 0;

  add(batch: Applying): void {
    const { job } = batch;
    this.batches.push(batch);
    this.rows += job.operations.length;
    this.cost += Math.max(job.operations.length, (job.bytes ?? 0) / CALL_BYTES);
  }
}

type ProfileNeeds = Needs<
  'postgres' | 'redis' | 'shards' | 'metrics' | 'log',
  'CLICKHOUSE_DATABASE' | 'DATABASE_URL' | 'DATABASE_TLS' | 'SECRET_KEY_BASE'
>;

export function startProfileUpserts(deps: ProfileNeeds): RunningJob {
  const { postgres, redis, metrics, log } = deps;
  const stores = { postgres, redis, hashId: createIdHash(deps.config.SECRET_KEY_BASE) };
  const projector = startIdentityProjector(deps);
  const { applied } = createIdentityWorkerMetrics(metrics, () => measureOutbox(postgres));

  const writer = new BatchWriter<Batches>({
    createBlock: () => new Batches(),
    async write(block) {
      const jobs = block.batches.map(({ job }) => job);
      const { calls, left } = await applyBatches(jobs, stores);
      for (const batch of block.batches) {
        batch.job = { ...batch.job, operations: left.get(batch.job.batch) ?? [] };
      }
      applied.inc(calls);
      projector.nudge();
    },
    isRefused: areRefusedCalls,
    rowsMax: BOUNDS.identifyCalls,
    // A transaction starts at once, and calls that arrive meanwhile share the next one.
    delayMs: { min: 0, max: 0 },
    capacityRows: BOUNDS.identifyCalls * BOUNDS.identifyBatches,
    log,
  });

  async function process(job: Job<IdentifyJob>): Promise<void> {
    const project = projectOfBatch(job.data.batch);
    const batch: Applying = { job: job.data };
    try {
      // Calls that are left wait again, behind those of others.
      do {
        await writer.room({ key: project ?? '', isPrompt: project === undefined });
        await writer.add((block) => block.add(batch));
      } while (batch.job.operations.length > 0);
    } catch (error) {
      if (areRefusedCalls(error)) await keepRejected(job, batch.job, nameFailure(error));
      else throw error;
    }
  }

  /**
   * Applies the valid ones of the calls that are left; the job becomes a dead letter that holds
   * only the rejected ones.
   */
  async function keepRejected(job: Job<IdentifyJob>, left: IdentifyJob, reason: string): Promise<void> {
    const calls = job.data.operations.length;
    const refused = await isolateRejectedCalls(left, stores);
    applied.inc(left.operations.length - refused.length);
    projector.nudge();
    if (refused.length > 0) {
      await job.updateData({ ...job.data, operations: refused });
      // Retrying rejected calls cannot succeed. Only the kind of error is kept, because
      // PostgreSQL's message may quote them.
      throw new UnrecoverableError(`${refused.length} of ${calls} calls were refused: ${reason}`);
    }
    await releaseSequence(redis, job.data.batch);
  }

  const worker = new LeasedWorker<IdentifyJob>(IDENTIFY_QUEUE, process, {
    connection: redis.duplicate(),
    concurrency: BOUNDS.identifyJobs,
    ...DURABLE_WORKER_OPTIONS,
  });
  const requestsOf = ({ operations }: IdentifyJob) => operations.flatMap(({ request }) => request ?? []);
  logFailedJobs(worker, { log, name: 'an identify job', requestsOf });
  worker.on('failed', (job, err) => {
    if (job === undefined || !isDeadLetter(err)) return;
    // The sequence numbers of a dead letter are released. If this fails, the sweep releases them.
    releaseSequence(redis, job.data.batch).catch((error: unknown) => log.warn({ err: error }, 'numbers stay pending'));
  });
  logErrors(worker, { log, message: 'the identify worker lost touch with redis' });

  return {
    async close() {
      const closed = worker.close();
      await writer.close();
      await closed;
      await projector.close();
    },
  };
}
