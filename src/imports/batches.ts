// Collects events or identify calls into request bodies within the limits of a route. Each is
// serialized once and its bytes counted.

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

/** Smaller than what the service allows: a batch is one job there. */
export const CALL_LIMITS: BatchLimits = { eventsMax: 500, bytesMax: 240 * 1024 };

const TAIL = ']}';

export class BatchBuilder {
  #texts: string[] = [];
  #bytes = 0;
  readonly #limits: BatchLimits;
  readonly #head: string;

  /** `list`: the field of the body. */
  constructor(limits: BatchLimits = BATCH_LIMITS, list: 'events' | 'calls' = 'events') {
    this.#limits = limits;
    this.#head = `{"${list}":[`;
  }

  get #frameBytes(): number {
    return this.#head.length + TAIL.length;
  }

  /** Returns the full batch when this event does not fit; the event then starts the next batch. */
  add(event: object): Batch | undefined {
    const text = JSON.stringify(event);
    const bytes = Buffer.byteLength(text) + 1;
    const hasRoom =
      this.#texts.length < this.#limits.eventsMax && this.#frameBytes + this.#bytes + bytes <= this.#limits.bytesMax;
    const full = hasRoom ? undefined : this.take();
    this.#texts.push(text);
    this.#bytes += bytes;
    return full;
  }

  /** The collected batch; undefined when it is empty. */
  take(): Batch | undefined {
    if (this.#texts.length === 0) return undefined;
    const batch = { body: `${this.#head}${this.#texts.join(',')}${TAIL}`, events: this.#texts.length };
    this.#texts = [];
    this.#bytes = 0;
    return batch;
  }
}
