// Identify jobs → profiles and mappings in PostgreSQL, and from there their copies in ClickHouse. Jobs that wait together share
// a transaction; each ends only after it is committed. In which order they come does not matter.
import { type Job, UnrecoverableError, Worker } from 'bullmq';
import { applyBatches, isolateRejectedCalls } from '../src/identity/apply.js';
import { createIdentityWorkerMetrics } from '../src/identity/metrics.js';
import { measureOutbox } from '../src/identity/outbox.js';
import { IDENTIFY_QUEUE, type IdentifyJob, projectOfBatch } from '../src/identity/queue.js';
import { releaseSequence } from '../src/identity/sequence.js';
import { BatchWriter } from '../src/platform/batch-writer.js';
import { nameFailure } from '../src/platform/errors.js';
import { isRefusedData } from '../src/platform/postgres/failures.js';
import { DURABLE_WORKER_OPTIONS } from '../src/platform/redis/durable-job-options.js';
import { startIdentityProjector } from './project-identities.js';
import type { RunningJob, WorkerDeps } from './runtime.js';

// Jobs beyond those of the transaction that runs, which the next one takes together.
const JOBS_AT_A_TIME = 100;
// Each may be of a profile as large as they get, and one statement carries them all.
const CALLS_PER_TRANSACTION = 500;
const CAPACITY_CALLS = 4 * CALLS_PER_TRANSACTION;

// What a call costs beside its size is worth so many bytes.
const CALL_BYTES = 512;

class Batches {
  readonly jobs: IdentifyJob[] = [];
  /** Calls in them. */
  rows = 0;
  /** In small calls: a transaction of large ones has fewer. */
  cost = 0;

  add(job: IdentifyJob): void {
    this.jobs.push(job);
    this.rows += job.operations.length;
    this.cost += Math.max(job.operations.length, (job.bytes ?? 0) / CALL_BYTES);
  }
}

export function startProfileUpserts(deps: WorkerDeps): RunningJob {
  const { postgres, redis, metrics, log } = deps;
  const projector = startIdentityProjector(deps);
  const { applied } = createIdentityWorkerMetrics(metrics, () => measureOutbox(postgres));

  const writer = new BatchWriter<Batches>({
    createBlock: () => new Batches(),
    async write(block) {
      applied.inc(await applyBatches(block.jobs, { postgres, redis }));
      projector.nudge();
    },
    isRefused: isRefusedData,
    rowsMax: CALLS_PER_TRANSACTION,
    // A transaction begins at once, and those that come meanwhile share the next one.
    delayMs: { min: 0, max: 0 },
    capacityRows: CAPACITY_CALLS,
    log,
  });

  async function process(job: Job<IdentifyJob>): Promise<void> {
    const project = projectOfBatch(job.data.batch);
    await writer.room({ key: project ?? '', isPrompt: project === undefined });
    try {
      await writer.add((block) => block.add(job.data));
    } catch (error) {
      if (isRefusedData(error)) await keepRejected(job, nameFailure(error));
      else throw error;
    }
  }

  /** Applies what can be applied; the job is given up for a person to look at, and holds only what is refused. */
  async function keepRejected(job: Job<IdentifyJob>, reason: string): Promise<void> {
    const calls = job.data.operations.length;
    const refused = await isolateRejectedCalls(job.data, { postgres, redis });
    applied.inc(calls - refused.length);
    projector.nudge();
    if (refused.length > 0) {
      await job.updateData({ ...job.data, operations: refused });
      // Trying the same calls again cannot end better. PostgreSQL's own words may quote them.
      throw new UnrecoverableError(`${refused.length} of ${calls} calls were refused: ${reason}`);
    }
    await releaseSequence(redis, job.data.batch);
  }

  const worker = new Worker<IdentifyJob, void>(IDENTIFY_QUEUE, process, {
    connection: redis.duplicate(),
    concurrency: JOBS_AT_A_TIME,
    ...DURABLE_WORKER_OPTIONS,
  });
  worker.on('failed', (job, err) => {
    const parked = err instanceof UnrecoverableError ? job : undefined;
    const requests = parked?.data.operations.flatMap(({ request }) => request ?? []);
    log.error({ err, job: job?.id, requests }, 'an identify job failed');
    if (parked === undefined) return;
    // Nothing waits for the numbers of a job that was given up. What this leaves behind when it fails is swept up.
    releaseSequence(redis, parked.data.batch).catch((error: unknown) =>
      log.warn({ err: error }, 'numbers stay pending'),
    );
  });
  worker.on('error', (err) => log.warn({ err }, 'the identify worker lost touch with redis'));

  return {
    async close() {
      const closed = worker.close();
      await writer.close();
      await closed;
      await projector.close();
    },
  };
}
