// Estimate of a queue backlog between two measurements.

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
 * The last measurement plus what this process has added since, which the measurement cannot
 * include. One process exceeds a limit by at most one job; with several processes, each exceeds it
 * by what the others add between two measurements.
 */
export class BacklogEstimate {
  #measured = NOTHING;
  /**
   * Totals since the process started: additions that began, additions that completed, and the
   * completed ones that the last measurement includes.
   */
  #begun = NOTHING;
  #added = NOTHING;
  #seen = NOTHING;

  get now(): Backlog {
    return sum(sum(this.#measured, this.#begun), this.#seen, -1);
  }

  /** Begins a measurement; call the returned function with its result. */
  startMeasuring(): (measured: Backlog) => void {
    const addedBefore = this.#added;
    return (measured) => {
      this.#measured = measured;
      this.#seen = addedBefore;
    };
  }

  /** Begins an addition; call the returned function when it has completed or failed. */
  startAdding(job: Backlog): () => void {
    this.#begun = sum(this.#begun, job);
    return () => {
      this.#added = sum(this.#added, job);
    };
  }
}
