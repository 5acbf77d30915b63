// Consumer of the demo queue: loads the demo project of an organization, one at a time. It sends
// events and users to the service like any client. A job that runs again, because its worker was
// killed, deletes what the earlier run left behind, and begins again.
import { type Job, UnrecoverableError, Worker } from 'bullmq';
import type { Quotas } from '../src/accounts/quotas.js';
import { createDemo, DemoExists, deleteDemo, findDemo } from '../src/demo/create-demo.js';
import { DEMO_QUEUE, type DemoJob } from '../src/demo/queue.js';
import { ShopNotSent, sendInThread } from '../src/demo/send-in-thread.js';
import { PublicError } from '../src/platform/errors.js';
import { DURABLE_WORKER_OPTIONS } from '../src/platform/redis/durable-job-options.js';
import { logErrors } from '../src/platform/redis/log-errors.js';
import type { Needs, RunningJob } from './runtime.js';

const LIBRARY = 'service-demo/1';

type DemoNeeds = Needs<'postgres' | 'redis' | 'log', 'SECRET_KEY_BASE' | keyof Quotas>;

export function startDemoWorker({ config, postgres, redis, log }: DemoNeeds): RunningJob {
  const stopping = new AbortController();
  const secrets = { secretKeyBase: config.SECRET_KEY_BASE, quotas: config };

  async function load(job: Job<DemoJob>): Promise<void> {
    const { organizationId, personId, url } = job.data;
    const actor = { kind: 'person', id: personId } as const;
    await removeLeftover(job);
    const deps = { postgres, ...secrets, url, send: sendInThread };
    const options = { organizationId, actor, library: LIBRARY, nowMs: Date.now(), signal: stopping.signal };
    try {
      await createDemo(deps, {
        ...options,
        onProgress: (progress) => void job.updateProgress(progress).catch(() => {}),
      });
    } catch (cause) {
      if (stopping.signal.aborted) throw cause;
      log.warn({ err: cause, organization: organizationId }, 'a demo project could not be loaded');
      throw new UnrecoverableError(reasonOf(cause));
    }
  }

  /**
   * Removes what a run whose worker was killed has left: the project was created after the job was
   * asked for, and no other job of the organization can run.
   */
  async function removeLeftover(job: Job<DemoJob>): Promise<void> {
    if (job.attemptsStarted <= 1) return;
    const { organizationId, personId, askedAtMs = job.timestamp } = job.data;
    const left = await findDemo(postgres, organizationId);
    if (left === undefined || left.createdAt.getTime() < askedAtMs) return;
    await deleteDemo({ postgres }, { organizationId, actor: { kind: 'person', id: personId } });
  }

  const worker = new Worker<DemoJob, void>(DEMO_QUEUE, load, {
    ...{ lockDuration: DURABLE_WORKER_OPTIONS.lockDuration, stalledInterval: DURABLE_WORKER_OPTIONS.stalledInterval },
    ...{ maxStalledCount: DURABLE_WORKER_OPTIONS.maxStalledCount },
    connection: redis.duplicate(),
  });
  logErrors(worker, { log, message: 'the demo worker lost touch with redis' });
  return {
    async close() {
      stopping.abort(new Error('the worker is stopping'));
      await worker.close();
    },
  };
}

/** What the console shows: messages of other errors may name the operator's machines. */
const reasonOf = (cause: unknown): string =>
  cause instanceof DemoExists || cause instanceof ShopNotSent || cause instanceof PublicError
    ? cause.message
    : 'the demo project could not be loaded; the log of the worker says why';
