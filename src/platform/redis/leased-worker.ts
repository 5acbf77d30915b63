// A BullMQ worker that knows how long each of its jobs is certainly its own. BullMQ lets another
// worker have a job whose lock in Redis has expired, and tells the first one nothing: a process
// that was stopped (SIGSTOP, a suspended machine) goes on where it was. So what only the owner may
// do asks the lease of the job first.
//
// The lock expires a fixed time after Redis has set it, which is later than the command was sent.
// A lease therefore counts from the moment of sending, and ends no later than the lock.
import { type Job, Worker } from 'bullmq';
import { type Moment, momentNow, msSince } from '../moment.js';

/** The job may belong to another worker by now. */
export class LeaseLost extends Error {
  constructor(id: string) {
    super(`the lock of the job ${id} may have expired; another worker may have it`);
    this.name = 'LeaseLost';
  }
}

export const isLeaseLost = (error: unknown): boolean => error instanceof LeaseLost;

export interface Lease {
  /** Throws LeaseLost when the lock may have expired, or is known to be lost. */
  require(): void;
}

class JobLease implements Lease {
  readonly #id: string;
  readonly #durationMs: number;
  #renewedAt: Moment;
  #isLost = false;

  constructor(id: string, { durationMs, since }: { durationMs: number; since: Moment }) {
    this.#id = id;
    this.#durationMs = durationMs;
    this.#renewedAt = since;
  }

  renew(at: Moment): void {
    this.#renewedAt = at;
  }

  lose(): void {
    this.#isLost = true;
  }

  require(): void {
    if (this.#isLost || msSince(this.#renewedAt) >= this.#durationMs) throw new LeaseLost(this.#id);
  }
}

export class LeasedWorker<D> extends Worker<D, void> {
  readonly #leases = new Map<string, JobLease>();

  /** Runs `work` with the lease of the job, which is renewed until `work` has ended. */
  async withLease<T>(job: Job<D>, work: (lease: Lease) => Promise<T>): Promise<T> {
    const id = job.id ?? '';
    const lease = new JobLease(id, { durationMs: this.opts.lockDuration ?? 0, since: lockedAt(job) });
    this.#leases.set(id, lease);
    try {
      return await work(lease);
    } finally {
      // The same job may run here again, with a lock and a lease of its own.
      if (this.#leases.get(id) === lease) this.#leases.delete(id);
    }
  }

  /** Called by BullMQ's timer. Resolves with the ids whose lock was lost. */
  override async extendJobLocks(ids: string[], tokens: string[], durationMs: number): Promise<string[]> {
    const leases = ids.map((id) => this.#leases.get(id));
    const sentAt = momentNow();
    const lost = await super.extendJobLocks(ids, tokens, durationMs);
    for (const [index, id] of ids.entries()) {
      if (lost.includes(id)) leases[index]?.lose();
      else leases[index]?.renew(sentAt);
    }
    return lost;
  }
}

/** `processedOn` is the clock of this process when it sent the command that took the lock. */
function lockedAt({ processedOn }: Job): Moment {
  const now = momentNow();
  const agoMs = Math.max(0, now.wallMs - (processedOn ?? 0));
  return { monotonicMs: now.monotonicMs - agoMs, wallMs: now.wallMs - agoMs };
}
