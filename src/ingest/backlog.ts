// What is known of a backlog between two measurements.

export interface Backlog {
  readonly jobs: number;
  readonly bytes: number;
}

export const NOTHING: Backlog = { jobs: 0, bytes: 0 };

const sum = (one: Backlog, other: Backlog, factor = 1): Backlog => ({
  jobs: one.jobs + factor * other.jobs,
  bytes: one.bytes + factor * other.bytes,
});

/**
 * The last measurement, and on top of it what this process has added that the measurement cannot have seen. So one process
 * goes beyond a limit by a single job, and each of several by what the others add between two measurements.
 */
export class BacklogEstimate {
  #measured = NOTHING;
  /** Since the process started: what it has begun to add, and what of that had been added when the measurement began. */
  #begun = NOTHING;
  #added = NOTHING;
  #seen = NOTHING;

  get now(): Backlog {
    return sum(sum(this.#measured, this.#begun), this.#seen, -1);
  }

  /** Returns what to call with the result of a measurement that begins now. */
  startMeasuring(): (measured: Backlog) => void {
    const addedBefore = this.#added;
    return (measured) => {
      this.#measured = measured;
      this.#seen = addedBefore;
    };
  }

  /** Returns what to call when the job has been added, or could not be. */
  startAdding(job: Backlog): () => void {
    this.#begun = sum(this.#begun, job);
    return () => {
      this.#added = sum(this.#added, job);
    };
  }
}
