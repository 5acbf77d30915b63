// Byte stream between two processes with flow control: the receiver sends a request, the sender
// answers with chunks, with at most one window of unacknowledged bytes, so memory is bounded for
// slow receivers. It ends cleanly only when every byte has arrived; any other end is an error on
// both sides.
//
// Messages of the sender: H (here I am), D (offset and bytes), E (end, with the total), F (failed).
// Of the receiver: R (the request), A (how many bytes were taken), T (it took all of them), L
// (leaves).
import type { Redis } from './client.js';
import { DuplexClosed, RedisDuplex } from './redis-duplex.js';

const WINDOW_BYTES = 1024 * 1024;
const COUNT_BYTES = 8;
const REQUEST_WAIT_MS = 10_000;

const upstream = (channel: string): string => `chunks:${channel}:up`;
const downstream = (channel: string): string => `chunks:${channel}:down`;

function toBytes(count: number): Buffer {
  const bytes = Buffer.alloc(COUNT_BYTES);
  bytes.writeDoubleLE(count);
  return bytes;
}

/** Single-waiter signal: `wait` resolves at once when `notify` was called before. */
class Signal {
  #isNotified = false;
  #wake: (() => void) | undefined;

  notify(): void {
    this.#isNotified = true;
    this.#wake?.();
  }

  async wait(): Promise<void> {
    if (!this.#isNotified) await new Promise<void>((resolve) => (this.#wake = resolve));
    this.#isNotified = false;
    this.#wake = undefined;
  }
}

export class ChunkSender {
  readonly #link: RedisDuplex;
  readonly #changed = new Signal();
  readonly #left = new AbortController();
  /** Aborted when the receiver has left or is unreachable. */
  readonly signal: AbortSignal;
  #request: Buffer | undefined;
  #sent = 0;
  #taken = 0;
  #isDelivered = false;

  private constructor(link: RedisDuplex) {
    this.#link = link;
    link.onMessage((kind, payload) => this.#hear(kind, payload));
    this.signal = AbortSignal.any([link.broken, this.#left.signal]);
    this.signal.addEventListener('abort', () => this.#changed.notify(), { once: true });
  }

  /** Undefined when the receiver no longer waits on the channel. */
  static async open(redis: Redis, channel: string): Promise<ChunkSender | undefined> {
    const link = await RedisDuplex.open(redis, { receivesFrom: upstream(channel), sendsTo: downstream(channel) });
    const sender = new ChunkSender(link);
    try {
      await link.send('H');
      await sender.#requested();
      link.startHeartbeat();
      return sender;
    } catch (error) {
      link.close();
      if (error instanceof DuplexClosed) return undefined;
      throw error;
    }
  }

  get request(): Buffer {
    return this.#request ?? Buffer.alloc(0);
  }

  /**
   * Resolves when the chunk was sent and the window has room. A full window has room again once
   * half of it was acknowledged, so that a sender that pauses then reads more than one chunk.
   * Rejects when `signal` is aborted.
   */
  async send(chunk: Buffer): Promise<void> {
    this.signal.throwIfAborted();
    const offset = toBytes(this.#sent);
    this.#sent += chunk.length;
    await this.#link.send('D', offset, chunk);
    if (this.#sent - this.#taken < WINDOW_BYTES) return;
    await this.#until(() => this.#sent - this.#taken <= WINDOW_BYTES / 2);
  }

  /**
   * Resolves when the receiver has taken every byte. Leaving earlier would look like a failure to
   * the receiver.
   */
  async end(): Promise<void> {
    await this.#link.send('E', toBytes(this.#sent));
    await this.#until(() => this.#isDelivered);
  }

  async fail(): Promise<void> {
    // An unreachable receiver has already noticed the failure.
    await this.#link.send('F').catch(() => {});
  }

  close(): void {
    this.#link.close();
  }

  async #requested(): Promise<void> {
    const timer = setTimeout(() => this.#left.abort(new DuplexClosed('the receiver sent no request')), REQUEST_WAIT_MS);
    await this.#until(() => this.#request !== undefined).finally(() => clearTimeout(timer));
  }

  async #until(isSo: () => boolean): Promise<void> {
    while (!isSo()) {
      this.signal.throwIfAborted();
      await this.#changed.wait();
    }
  }

  #hear(kind: string, payload: Buffer): void {
    if (kind === 'R') this.#request = payload;
    if (kind === 'A') this.#taken = payload.readDoubleLE();
    if (kind === 'T') this.#isDelivered = true;
    if (kind === 'L') this.#left.abort(new DuplexClosed('the receiver has left'));
    this.#changed.notify();
  }
}

export class ChunkReceiver {
  readonly #link: RedisDuplex;
  readonly #changed = new Signal();
  readonly #failed = new AbortController();
  readonly #signal: AbortSignal;
  readonly #chunks: Buffer[] = [];
  #isTakenUp = false;
  #arrived = 0;
  #total: number | undefined;

  private constructor(link: RedisDuplex) {
    this.#link = link;
    link.onMessage((kind, payload) => this.#hear(kind, payload));
    this.#signal = AbortSignal.any([link.broken, this.#failed.signal]);
    this.#signal.addEventListener('abort', () => this.#changed.notify(), { once: true });
  }

  /** Must be opened before the sender is started. */
  static async open(redis: Redis, channel: string): Promise<ChunkReceiver> {
    return new ChunkReceiver(
      await RedisDuplex.open(redis, { receivesFrom: downstream(channel), sendsTo: upstream(channel) }),
    );
  }

  /** Sends the request to the sender. Resolves with false when no sender arrived in time. */
  async ask(request: Buffer, waitMs: number): Promise<boolean> {
    const timer = setTimeout(() => this.#failed.abort(new DuplexClosed('no sender has come')), waitMs);
    try {
      while (!this.#isTakenUp) {
        if (this.#signal.aborted) return false;
        await this.#changed.wait();
      }
    } finally {
      clearTimeout(timer);
    }
    await this.#link.send('R', request);
    this.#link.startHeartbeat();
    return true;
  }

  /** A chunk is acknowledged when the next one is requested. Throws when the channel breaks. */
  async *chunks(): AsyncGenerator<Buffer> {
    let taken = 0;
    while (taken !== this.#total) {
      const chunk = this.#chunks.shift();
      if (chunk === undefined) {
        this.#signal.throwIfAborted();
        await this.#changed.wait();
        continue;
      }
      yield chunk;
      taken += chunk.length;
      await this.#link.send('A', toBytes(taken));
    }
    await this.#link.send('T');
  }

  /** Wakes a waiting reader and releases the sender. */
  async leave(): Promise<void> {
    this.#failed.abort(new DuplexClosed('the channel was left'));
    await this.#link.send('L').catch(() => {});
    this.#link.close();
  }

  #hear(kind: string, payload: Buffer): void {
    // A second sender (a repeated job) cannot continue where the first one stopped.
    if (kind === 'H' && this.#isTakenUp) this.#failed.abort(new DuplexClosed('the sender has started again'));
    if (kind === 'H') this.#isTakenUp = true;
    if (kind === 'D') this.#take(payload);
    if (kind === 'E' && this.#arrived === payload.readDoubleLE()) this.#total = this.#arrived;
    else if (kind === 'E' || kind === 'F') this.#failed.abort(new DuplexClosed('the sender has failed'));
    this.#changed.notify();
  }

  #take(payload: Buffer): void {
    if (payload.readDoubleLE() !== this.#arrived) {
      this.#failed.abort(new DuplexClosed('chunks were lost on the way'));
      return;
    }
    const chunk = payload.subarray(COUNT_BYTES);
    this.#arrived += chunk.length;
    this.#chunks.push(chunk);
  }
}
