// A BullMQ worker that knows how long each of its jobs is certainly its own. BullMQ lets another
// worker have a job whose lock in Redis has expired, and tells the first one nothing: a process
// that was stopped (SIGSTOP, a suspended machine) goes on where it was. So what only the owner may
// do asks the lease of the job first.
//
// The lock expires a fixed time after Redis has set it, which is later than the command was sent.
// A lease therefore counts from the moment of sending, and ends no later than the lock.
//
// It renews the locks itself. BullMQ keeps one entry per job and removes it when any run of the job
// ends. A job whose lock has expired may run again in the same process, and the end of its first
// run would stop the renewal of the second one's lock: every run would lose its job to the next.
//
// A job that fails runs again after at most 30 s, whatever its options say: the exponential backoff
// of BullMQ has no limit, and queued jobs have kept it.
import { type Job, WaitingError, Worker, type WorkerOptions } from 'bullmq';
import { type Moment, momentNow, msSince } from '../moment.js';
import { cappedBackoffMs } from './durable-job-options.js';
import { isLeaseLost, LeaseLost } from './lease-lost.js';

export interface Lease {
  /** Throws LeaseLost when the lock may have expired, or is known to be lost. */
  require(): void;
}

class JobLease implements Lease {
  readonly token: string;
  readonly #durationMs: number;
  #renewedAt: Moment;
  #isLost = false;

  constructor({ durationMs, since, token }: { durationMs: number; since: Moment; token: string }) {
    this.token = token;
    this.#durationMs = durationMs;
    this.#renewedAt = since;
  }

  /** Not at first: most jobs end before. */
  get isDue(): boolean {
    return !this.#isLost && msSince(this.#renewedAt) >= this.#durationMs / RENEWALS_PER_LOCK / 2;
  }

  renew(at: Moment): void {
    this.#renewedAt = at;
  }

  lose(): void {
    this.#isLost = true;
  }

  require(): void {
    if (this.#isLost || msSince(this.#renewedAt) >= this.#durationMs) throw new LeaseLost();
  }
}

/** The type is not one of BullMQ, so the strategy of the worker counts. */
const CAPPED_BACKOFF = { type: 'capped' };
/** Attempts within the duration of a lock, of which some may fail. */
const RENEWALS_PER_LOCK = 4;

export interface LeasedWorkerOptions extends WorkerOptions {
  /** Milliseconds until a lock expires that is not renewed. */
  readonly lockDuration: number;
}

export class LeasedWorker<D> extends Worker<D, void> {
  readonly #lockMs: number;
  /** Lease of the latest run of each job: that of an earlier run is lost. */
  readonly #leases = new Map<string, JobLease>();
  readonly #renewing: NodeJS.Timeout;
  #isRenewing = false;

  constructor(
    queue: string,
    run: (job: Job<D>, held: { readonly lease: Lease; readonly token: string }) => Promise<void>,
    options: LeasedWorkerOptions,
  ) {
    super(queue, (job, token = '') => this.#withLease(job, token, (lease) => run(job, { lease, token })), {
      ...options,
      skipLockRenewal: true,
      settings: { ...options.settings, backoffStrategy: cappedBackoffMs },
    });
    this.#lockMs = options.lockDuration;
    const renew = () => this.#renewDue().catch((error: Error) => this.emit('error', error));
    this.#renewing = setInterval(renew, this.#lockMs / RENEWALS_PER_LOCK);
  }

  /** Resolves when the jobs have ended, whose locks are renewed until then. */
  override async close(force?: boolean): Promise<void> {
    await super.close(force).finally(() => clearInterval(this.#renewing));
  }

  /** Runs `work` with the lease of the job, which is renewed until `work` has ended. */
  async #withLease(job: Job<D>, token: string, work: (lease: Lease) => Promise<void>): Promise<void> {
    const id = job.id ?? '';
    const lease = new JobLease({ durationMs: this.#lockMs, since: lockedAt(job), token });
    this.#leases.get(id)?.lose();
    this.#leases.set(id, lease);
    job.opts.backoff = CAPPED_BACKOFF;
    try {
      await work(lease);
    } catch (error) {
      // BullMQ then leaves the job alone, which may run elsewhere, and takes the next one.
      throw isLeaseLost(error) ? new WaitingError() : error;
    } finally {
      if (this.#leases.get(id) === lease) this.#leases.delete(id);
    }
  }

  async #renewDue(): Promise<void> {
    const due = [...this.#leases].filter(([, lease]) => lease.isDue);
    if (this.#isRenewing || due.length === 0) return;
    this.#isRenewing = true;
    try {
      const sentAt = momentNow();
      const [ids, tokens] = [due.map(([id]) => id), due.map(([, { token }]) => token)];
      const lost = new Set(await this.extendJobLocks(ids, tokens, this.#lockMs));
      for (const [id, lease] of due) {
        if (lost.has(id)) lease.lose();
        else lease.renew(sentAt);
      }
    } finally {
      this.#isRenewing = false;
    }
  }
}

/** `processedOn` is the clock of this process when it sent the command that took the lock. */
function lockedAt({ processedOn }: Job): Moment {
  const now = momentNow();
  const agoMs = Math.max(0, now.wallMs - (processedOn ?? 0));
  return { monotonicMs: now.monotonicMs - agoMs, wallMs: now.wallMs - agoMs };
}
