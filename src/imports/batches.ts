// Gathers events into request bodies within the limits of /track: each event is turned into text once, and its bytes
// are counted on the way.

export interface Batch {
  readonly body: string;
  readonly events: number;
}

export interface BatchLimits {
  readonly eventsMax: number;
  readonly bytesMax: number;
}

/** The service's own limits are 2000 events and 5 MiB; the margin is for a proxy that allows a little less. */
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

  /** Answers the batch that had no room left for this event; the event then begins the next one. */
  add(event: object): Batch | undefined {
    const text = JSON.stringify(event);
    const bytes = Buffer.byteLength(text) + 1;
    const hasRoom = this.#texts.length < this.#limits.eventsMax && this.#bytes + bytes <= this.#limits.bytesMax;
    const full = hasRoom ? undefined : this.take();
    this.#texts.push(text);
    this.#bytes += bytes;
    return full;
  }

  /** What has been gathered; undefined when that is nothing. */
  take(): Batch | undefined {
    if (this.#texts.length === 0) return undefined;
    const batch = { body: `${HEAD}${this.#texts.join(',')}${TAIL}`, events: this.#texts.length };
    this.#texts = [];
    this.#bytes = FRAME_BYTES;
    return batch;
  }
}
