// Batch writer: collects rows of many callers into few inserts, and resolves each caller when its
// rows are stored.
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import { nameFailure } from '../errors.js';
import type { Logger } from '../log.js';
import type { LargeWrites } from './large-writes.js';
import { RoundRobin } from './round-robin.js';

export interface Block {
  readonly rows: number;
  /** What writing it costs, in rows, where that is more than its rows. */
  readonly cost?: number;
}

const costOf = ({ rows, cost }: Block): number => cost ?? rows;

export interface Turn {
  /** Callers that wait for room take turns by their keys. */
  readonly key: string;
  /**
   * Callers of a key whose rows are of one kind are let in together: then writing them costs less.
   */
  readonly kind?: string;
  /** May use the reserve: a second capacity, so that these callers do not wait for the others. */
  readonly isPrompt: boolean;
}

export interface BatchWriterOptions<B extends Block> {
  readonly createBlock: () => B;
  /**
   * Resolves when the rows are stored; may be called again with the same block. The signal is
   * aborted when closing takes longer than its deadline.
   */
  readonly write: (block: B, signal: AbortSignal) => Promise<void>;
  /** Whether the rows caused a failure of `write` (permanent). All other failures are transient. */
  readonly isRefused: (error: unknown) => boolean;
  /** A batch is written at this cost, or after a delay from its first row. */
  readonly rowsMax: number;
  /**
   * Limits of that delay. Between them the store rests after a write, four times as long as it
   * took: small writes leave the store most of its time, and a store that has rested shows a row
   * soon. After a batch of many rows it rests for the maximum, which halves the fixed costs per
   * write.
   */
  readonly delayMs: { readonly min: number; readonly max: number };
  /**
   * Bounds memory and the duration of a write: callers wait before adding while rows of this cost
   * are collected.
   */
  readonly capacityRows: number;
  /** Shared with the writers of other stores: a batch of half of `rowsMax` or more waits for it. */
  readonly largeWrites?: LargeWrites;
  /** How long `close` waits for a running write. */
  readonly closeGraceMs?: number;
  readonly log: Logger;
}

interface Batch<B> {
  readonly block: B;
  readonly entries: Entry<B>[];
}

interface Entry<B> {
  readonly fill: (block: B) => void;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

const DELAY_PER_WRITE_TIME = 4;
const MANY_ROWS = 500;
const RETRY_DELAY_FIRST_MS = 100;
const RETRY_DELAY_MAX_MS = 10_000;
// Part of the 30 s that a process has for its shutdown.
const CLOSE_GRACE_MS = 15_000;

/**
 * One batch is collecting while at most one is being written. States of a batch: collecting →
 * (full, or its delay has passed, and no write is running) → writing → stored or rejected. A large
 * batch goes on collecting while it waits for a place among the large writes.
 * Transient failures are retried forever with growing pauses. On a permanent failure each half of
 * the batch is written alone, and so on, so that only callers whose rows are refused get the error.
 * After `close` failures are passed on instead of retried.
 */
export class BatchWriter<B extends Block> {
  readonly #options: BatchWriterOptions<B>;
  readonly #closing = new AbortController();
  readonly #givingUp = new AbortController();
  #collecting: Batch<B> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isDue = false;
  #writing: Promise<void> | undefined;
  #isWaitingForPlace = false;
  /** Gives back the place among the large writes. */
  #leave = () => {};
  readonly #prompt = new RoundRobin<() => void>();
  readonly #others = new RoundRobin<() => void>();
  #isAdmitting = false;
  #lastWriteMs = 0;
  #lastWriteEndedAt = Number.NEGATIVE_INFINITY;
  #lastRows = 0;

  constructor(options: BatchWriterOptions<B>) {
    this.#options = options;
  }

  /** Resolves when there is room for more rows, which the caller adds at once. */
  room({ key, kind, isPrompt }: Turn = { key: '', isPrompt: false }): Promise<void> {
    return new Promise((resolve) => {
      (isPrompt ? this.#prompt : this.#others).push(key, resolve, kind);
      void this.#admitWaiting();
    });
  }

  #hasRoom(isPrompt: boolean): boolean {
    const collected = this.#collecting === undefined ? 0 : costOf(this.#collecting.block);
    return collected < this.#options.capacityRows * (isPrompt ? 2 : 1);
  }

  /**
   * Lets callers in, one per turn of the event loop: each encodes its rows, which takes
   * milliseconds.
   */
  async #admitWaiting(): Promise<void> {
    if (this.#isAdmitting) return;
    this.#isAdmitting = true;
    for (;;) {
      const waiting = this.#prompt.isEmpty ? this.#others : this.#prompt;
      if (waiting.isEmpty || !this.#hasRoom(waiting === this.#prompt)) break;
      waiting.shift()?.();
      await nextTurn();
    }
    this.#isAdmitting = false;
  }

  /**
   * Calls `fill` at once, and again whenever its batch is divided. Resolves when the rows are
   * stored.
   */
  add(fill: (block: B) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      const batch = this.#collecting ?? this.#start();
      try {
        fill(batch.block);
      } catch (error) {
        reject(error);
        return;
      }
      batch.entries.push({ fill, resolve, reject });
      if (costOf(batch.block) >= this.#options.rowsMax) this.#isDue = true;
      this.#writeWhenDue();
    });
  }

  /**
   * Writes the collected rows and waits up to the close deadline; failures are no longer retried.
   */
  async close(): Promise<void> {
    this.#closing.abort();
    const giveUp = setTimeout(() => this.#givingUp.abort(), this.#options.closeGraceMs ?? CLOSE_GRACE_MS);
    while (this.#collecting !== undefined || this.#writing !== undefined) {
      this.#isDue = true;
      this.#writeWhenDue();
      await this.#writing;
    }
    clearTimeout(giveUp);
  }

  #start(): Batch<B> {
    this.#collecting = { block: this.#options.createBlock(), entries: [] };
    this.#timer = setTimeout(() => {
      this.#isDue = true;
      this.#writeWhenDue();
    }, this.#delayMs());
    return this.#collecting;
  }

  #delayMs(): number {
    const { min, max } = this.#options.delayMs;
    const restMs = this.#lastRows >= MANY_ROWS ? max : Math.min(max, this.#lastWriteMs * DELAY_PER_WRITE_TIME);
    const restedMs = this.#writing === undefined ? performance.now() - this.#lastWriteEndedAt : 0;
    return Math.max(min, Math.ceil(restMs - restedMs));
  }

  #writeWhenDue(): void {
    const batch = this.#collecting;
    if (batch === undefined || !this.#isDue || this.#writing !== undefined) return;
    const { largeWrites, rowsMax } = this.#options;
    if (largeWrites === undefined || costOf(batch.block) * 2 < rowsMax || this.#closing.signal.aborted) {
      this.#write(batch);
    } else if (!this.#isWaitingForPlace) void this.#writeInPlace(largeWrites);
  }

  async #writeInPlace(largeWrites: LargeWrites): Promise<void> {
    this.#isWaitingForPlace = true;
    const leave = await largeWrites.enter();
    this.#isWaitingForPlace = false;
    // It was written when the writer was closed.
    if (this.#collecting === undefined || this.#writing !== undefined) return leave();
    this.#leave = leave;
    this.#write(this.#collecting);
  }

  #write(batch: Batch<B>): void {
    clearTimeout(this.#timer);
    this.#collecting = undefined;
    this.#isDue = false;
    void this.#admitWaiting();
    this.#writing = this.#store(batch).finally(() => {
      this.#leave();
      this.#writing = undefined;
      this.#writeWhenDue();
    });
  }

  async #store({ block, entries }: Batch<B>, isPart = false): Promise<void> {
    try {
      if (block.rows > 0) await this.#writeUntilStored(block);
      for (const entry of entries) entry.resolve();
    } catch (error) {
      if (!this.#options.isRefused(error) || entries.length === 1) {
        for (const entry of entries) entry.reject(error);
        return;
      }
      // Do not log the error itself: its message may quote the rows. Callers know what it means.
      const refusal = { reason: nameFailure(error), rows: block.rows };
      if (!isPart) this.#options.log.warn(refusal, 'a batch was refused; writing smaller parts of it');
      const middle = entries.length >> 1;
      await this.#store(this.#refill(entries.slice(0, middle)), true);
      await this.#store(this.#refill(entries.slice(middle)), true);
    }
  }

  #refill(entries: Entry<B>[]): Batch<B> {
    const block = this.#options.createBlock();
    for (const entry of entries) entry.fill(block);
    return { block, entries };
  }

  async #writeUntilStored(block: B): Promise<void> {
    for (let pause = RETRY_DELAY_FIRST_MS; ; pause = Math.min(pause * 2, RETRY_DELAY_MAX_MS)) {
      try {
        const startedAt = performance.now();
        await this.#options.write(block, this.#givingUp.signal);
        this.#lastWriteEndedAt = performance.now();
        this.#lastWriteMs = this.#lastWriteEndedAt - startedAt;
        this.#lastRows = block.rows;
        return;
      } catch (error) {
        if (this.#options.isRefused(error) || this.#closing.signal.aborted) throw error;
        // The store may be unavailable for long.
        this.#leave();
        this.#options.log.warn({ err: error, rows: block.rows, retryInMs: pause }, 'an insert failed; trying again');
        // The pause ends early when the writer closes; the next failure is then passed on.
        await delay(pause * (0.5 + Math.random() / 2), undefined, { signal: this.#closing.signal }).catch(() => {});
      }
    }
  }
}
