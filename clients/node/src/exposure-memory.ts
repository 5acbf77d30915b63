// Remembers recently recorded exposures, so that repeated requests do not record one each.

const REMEMBERED_MS = 30 * 60_000;
const REMEMBERED_MAX = 10_000;

export class ExposureMemory {
  /** Assignment id to time of recording, oldest first. */
  readonly #recorded = new Map<string, number>();

  /** Returns whether to record the assignment now, and remembers it. */
  isNew(assignmentId: string, nowMs: number): boolean {
    const recordedAt = this.#recorded.get(assignmentId);
    // A clock that was set back must not keep exposures from being recorded until it has caught up.
    if (recordedAt !== undefined && Math.abs(nowMs - recordedAt) < REMEMBERED_MS) return false;
    this.#recorded.delete(assignmentId);
    this.#recorded.set(assignmentId, nowMs);
    const [oldest] = this.#recorded.keys();
    if (oldest !== undefined && this.#recorded.size > REMEMBERED_MAX) this.#recorded.delete(oldest);
    return true;
  }

  /** The assignment was not recorded after all. */
  forget(assignmentId: string): void {
    this.#recorded.delete(assignmentId);
  }
}
