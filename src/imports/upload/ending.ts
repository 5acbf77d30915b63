// How an import ends: what its thread said last, and whether it was told to stop before that.
import type { UploadLine } from './lines.js';

export interface Ended {
  /** What the thread said last. */
  readonly last: UploadLine | undefined;
  /** Whether it was told to stop before that: by the client, or because the service stops. */
  readonly isStopped: boolean;
}

/** With its summary an import has ended, also when its thread ends later. */
export class Ending {
  #last: UploadLine | undefined;
  #isStopped = false;

  /** False for what comes after the summary. */
  say(line: UploadLine): boolean {
    if (this.#hasSummary) return false;
    this.#last = line;
    return true;
  }

  stop(): void {
    // A client that has read the summary may leave before the thread ends, or the service stop.
    if (!this.#hasSummary) this.#isStopped = true;
  }

  get ended(): Ended {
    return { last: this.#last, isStopped: this.#isStopped };
  }

  get #hasSummary(): boolean {
    return this.#last !== undefined && 'summary' in this.#last;
  }
}
