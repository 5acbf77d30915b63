// Which assignments were recorded lately, so that a page that is asked for often is not an exposure each time.

const REMEMBERED_MS = 30 * 60_000;
const REMEMBERED_MAX = 10_000;

export class ExposureMemory {
  /** Assignment id to when it was recorded, the oldest first. */
  readonly #recorded = new Map<string, number>();

  /** Whether the assignment is to be recorded now; remembers that it is. */
  isNew(assignmentId: string, nowMs: number): boolean {
    const recordedAt = this.#recorded.get(assignmentId);
    if (recordedAt !== undefined && nowMs - recordedAt < REMEMBERED_MS) return false;
    this.#recorded.delete(assignmentId);
    this.#recorded.set(assignmentId, nowMs);
    const [oldest] = this.#recorded.keys();
    if (oldest !== undefined && this.#recorded.size > REMEMBERED_MAX) this.#recorded.delete(oldest);
    return true;
  }
}
