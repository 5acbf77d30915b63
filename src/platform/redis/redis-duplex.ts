// Message duplex between two processes over a pair of Redis channels (publish and subscribe). Redis
// keeps no message, neither in memory nor in its append-only file. A lost message breaks the
// connection: PUBLISH returns the number of receivers, each side sends a heartbeat every second,
// and a duplex never reconnects.
//
// States: open (receives, may send) → heartbeat (detects when the other side is gone) → broken or
// closed.
import type { Redis } from './client.js';

const HEARTBEAT_MS = 1_000;
// Longer than any pause of a healthy process.
const SILENCE_MAX_MS = 15_000;
const HEARTBEAT = '.';

export class DuplexClosed extends Error {}

/**
 * Called with the kind of a message (its first character) and its payload. Not called for
 * heartbeats.
 */
type OnMessage = (kind: string, payload: Buffer) => void;

export class RedisDuplex {
  readonly #listener: Redis;
  readonly #speaker: Redis;
  readonly #sendsTo: string;
  readonly #broken = new AbortController();
  #hear: OnMessage = () => {};
  #heardAt = performance.now();
  #beat: NodeJS.Timeout | undefined;
  #isClosed = false;

  private constructor(listener: Redis, speaker: Redis, sendsTo: string) {
    this.#listener = listener;
    this.#speaker = speaker;
    this.#sendsTo = sendsTo;
  }

  static async open(redis: Redis, channel: { receivesFrom: string; sendsTo: string }): Promise<RedisDuplex> {
    const [listener, speaker] = [ownConnection(redis), ownConnection(redis)];
    const link = new RedisDuplex(listener, speaker, channel.sendsTo);
    for (const connection of [listener, speaker]) {
      connection.on('error', (cause) => link.#break('redis cannot be reached', cause));
      connection.on('end', () => link.#break('redis closed the connection'));
    }
    listener.on('messageBuffer', (_channel: Buffer, message: Buffer) => {
      link.#heardAt = performance.now();
      const kind = String.fromCharCode(message[0] ?? 0);
      if (kind !== HEARTBEAT) link.#hear(kind, message.subarray(1));
    });
    try {
      await Promise.all([listener.connect(), speaker.connect()]);
      await listener.subscribe(channel.receivesFrom);
    } catch (error) {
      link.close();
      throw error;
    }
    return link;
  }

  /** Must be called right after opening: earlier messages are dropped. */
  onMessage(hear: OnMessage): void {
    this.#hear = hear;
  }

  /** Aborted with a DuplexClosed when the other side is gone or unreachable. */
  get broken(): AbortSignal {
    return this.#broken.signal;
  }

  /** Rejects with a DuplexClosed when no receiver is subscribed. */
  async send(kind: string, ...parts: Buffer[]): Promise<void> {
    const heardBy = await this.#speaker.publish(this.#sendsTo, Buffer.concat([Buffer.from(kind), ...parts])).catch(
      // The reason is already recorded when a command on a closed connection fails.
      (cause: unknown) => this.#break('redis cannot be reached', cause),
    );
    if (heardBy === 0) this.#break('the other side has gone');
    this.#broken.signal.throwIfAborted();
  }

  /** From now on the other side must be present and send at least a heartbeat every few seconds. */
  startHeartbeat(): void {
    this.#heardAt = performance.now();
    this.#beat ??= setInterval(() => {
      if (performance.now() - this.#heardAt > SILENCE_MAX_MS) this.#break('the other side has fallen silent');
      else this.send(HEARTBEAT).catch(() => {});
    }, HEARTBEAT_MS);
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#beat);
    this.#listener.disconnect();
    this.#speaker.disconnect();
  }

  #break(reason: string, cause?: unknown): void {
    if (this.#isClosed || this.#broken.signal.aborted) return;
    clearInterval(this.#beat);
    this.#broken.abort(new DuplexClosed(reason, { cause }));
  }
}

/** Fails instead of waiting: messages during a lost connection are lost anyway. */
const ownConnection = (redis: Redis): Redis =>
  redis.duplicate({
    lazyConnect: true,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
    autoResubscribe: false,
  });
