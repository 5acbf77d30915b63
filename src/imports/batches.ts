// Collects events into request bodies within the limits of /track. Each event is serialized once
// and its bytes counted.

export interface Batch {
  readonly body: string;
  readonly events: number;
}

export interface BatchLimits {
  readonly eventsMax: number;
  readonly bytesMax: number;
}

/** The service allows 2000 events and 5 MiB; the margin is for proxies with lower limits. */
export const BATCH_LIMITS: BatchLimits = { eventsMax: 2000, bytesMax: 4 * 1024 * 1024 };

const HEAD = '{"events":[';
const TAIL = ']}';
const FRAME_BYTES = HEAD.length + TAIL.length;

export class BatchBuilder {
  #texts: string[] = [];
  #bytes = FRAME_BYTES;
  readonly #limits: BatchLimits;

  constructor(limits: BatchLimits = BATCH_LIMITS) {
    this.#limits = limits;
  }

  /** Returns the full batch when this event does not fit; the event then starts the next batch. */
  add(event: object): Batch | undefined {
    const text = JSON.stringify(event);
    const bytes = Buffer.byteLength(text) + 1;
    const hasRoom = this.#texts.length < this.#limits.eventsMax && this.#bytes + bytes <= this.#limits.bytesMax;
    const full = hasRoom ? undefined : this.take();
    this.#texts.push(text);
    this.#bytes += bytes;
    return full;
  }

  /** The collected batch; undefined when it is empty. */
  take(): Batch | undefined {
    if (this.#texts.length === 0) return undefined;
    const batch = { body: `${HEAD}${this.#texts.join(',')}${TAIL}`, events: this.#texts.length };
    this.#texts = [];
    this.#bytes = FRAME_BYTES;
    return batch;
  }
}
