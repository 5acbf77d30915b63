// The leases of jobs on a real Redis: renewed while a job runs, lost with its lock, and renewed
// again for the next run of the same job in the same process.
import { type Job, Queue } from 'bullmq';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRedis, type Redis } from '../../src/platform/redis/client.js';
import { DURABLE_JOB_OPTIONS } from '../../src/platform/redis/durable-job-options.js';
import { LeaseLost } from '../../src/platform/redis/lease-lost.js';
import { type Lease, LeasedWorker } from '../../src/platform/redis/leased-worker.js';
import { eventually } from '../support/eventually.js';
import { createTestDatabases, type TestDatabases } from '../support/stack.js';

const LOCK_MS = 5_000;

let databases: TestDatabases;
let redis: Redis;

beforeAll(async () => {
  databases = await createTestDatabases();
  redis = createRedis(databases.config);
});

afterAll(async () => {
  redis?.disconnect();
  await databases?.close();
});

interface Run {
  readonly lease: Lease;
  readonly end: (error?: Error) => void;
}

/** A worker whose runs last until the test ends each. */
async function startRuns(name: string) {
  const runs: Run[] = [];
  const run = (_job: Job, { lease }: { lease: Lease }) =>
    new Promise<void>((resolve, reject) => {
      runs.push({ lease, end: (error) => (error === undefined ? resolve() : reject(error)) });
    });
  const queue = new Queue(name, { connection: redis.duplicate() });
  const worker = new LeasedWorker(name, run, {
    ...{ connection: redis.duplicate(), concurrency: 10 },
    ...{ lockDuration: LOCK_MS, stalledInterval: LOCK_MS / 4, maxStalledCount: 100 },
  });
  const errors: string[] = [];
  worker.on('error', ({ message }) => errors.push(message));
  await queue.add('job', {}, { jobId: 'one', attempts: 100 });
  await eventually(() => expect(runs).toHaveLength(1));
  const close = async () => {
    for (const { end } of runs) end();
    await worker.close();
    await queue.close();
  };
  return { runs, errors, queue, close };
}

const untilCompleted = (queue: Queue) =>
  eventually(async () => expect(await queue.getJobCounts('active', 'completed')).toEqual({ active: 0, completed: 1 }));

/** Only the last run still holds the job after two durations of a lock. */
async function requireLastToHold(runs: readonly Run[], count: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 2 * LOCK_MS));
  expect(runs).toHaveLength(count);
  for (const { lease } of runs.slice(0, -1)) expect(() => lease.require()).toThrow(LeaseLost);
  runs.at(-1)?.lease.require();
}

test('a job that runs longer than its lock keeps it', async () => {
  const { runs, queue, close } = await startRuns('leases-long');
  try {
    await requireLastToHold(runs, 1);
    runs[0]?.end();
    await untilCompleted(queue);
  } finally {
    await close();
  }
}, 60_000);

test('the end of a run that has lost its job does not end the lease of the next run', async () => {
  const { runs, errors, queue, close } = await startRuns('leases-lost');
  try {
    // As if this process had hung: another run begins here, with a lock of its own.
    await redis.del(queue.toKey('one:lock'));
    await eventually(() => expect(runs).toHaveLength(2));
    expect(() => runs[0]?.lease.require()).toThrow(LeaseLost);
    runs[0]?.end(new LeaseLost());
    await requireLastToHold(runs, 2);
    expect(errors).toEqual([]);
    runs[1]?.end();
    await untilCompleted(queue);
  } finally {
    await close();
  }
}, 60_000);

test('a job whose lock another worker has taken is known to be lost', async () => {
  const { runs, queue, close } = await startRuns('leases-taken');
  try {
    await redis.set(queue.toKey('one:lock'), 'of another worker', 'PX', 60_000);
    await eventually(() => expect(() => runs[0]?.lease.require()).toThrow(LeaseLost));
  } finally {
    await close();
  }
}, 60_000);

test('the lease of a run that begins late ends with the lock of the job', async () => {
  const queue = new Queue('leases-late', { connection: redis.duplicate() });
  let found: unknown;
  const run = async (_job: Job, { lease }: { lease: Lease }) => {
    try {
      lease.require();
      found = 'held';
    } catch (error) {
      found = error;
    }
  };
  const worker = new LeasedWorker('leases-late', run, { connection: redis.duplicate(), lockDuration: 1000 });
  try {
    // As if this process had hung between the two.
    worker.once('active', () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1100));
    await queue.add('job', {});
    await eventually(() => expect(found).toBeInstanceOf(LeaseLost));
  } finally {
    await worker.close();
    await queue.close();
  }
}, 60_000);

test('a job that has failed often runs again within 30 s, although its own backoff has no limit', async () => {
  const queue = new Queue('leases-backoff', { connection: redis.duplicate() });
  const fail = () => Promise.reject(new Error('again'));
  const worker = new LeasedWorker('leases-backoff', fail, {
    ...{ connection: redis.duplicate(), lockDuration: LOCK_MS },
  });
  try {
    await worker.waitUntilReady();
    const { attempts, backoff } = DURABLE_JOB_OPTIONS;
    for (const [jobId, made] of [
      ['new', 0],
      ['old', 40],
      ['oldest', 5000],
    ] as const) {
      await worker.pause();
      await queue.add('job', {}, { jobId, attempts, backoff });
      await redis.hset(queue.toKey(jobId), 'atm', made);
      worker.resume();
      await eventually(async () => expect(await (await queue.getJob(jobId))?.getState()).toBe('delayed'));
      const job = await queue.getJob(jobId);
      expect(job?.attemptsMade).toBe(made + 1);
      expect(job?.delay).toBeGreaterThanOrEqual(made === 0 ? 250 : 15_000);
      expect(job?.delay).toBeLessThanOrEqual(made === 0 ? 500 : 30_000);
      await job?.remove();
    }
  } finally {
    await worker.close();
    await queue.close();
  }
}, 60_000);
