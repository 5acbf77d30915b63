// Message duplex between two processes over a pair of Redis channels (publish and subscribe). Redis keeps no message, neither
// in memory nor in its append-only file. A lost message breaks the connection: PUBLISH returns the number of receivers,
// each side sends a heartbeat every second, and a duplex never reconnects.
//
// States: open (receives, may send) → heartbeat (detects when the other side is gone) → broken or closed.
import type { Redis } from './client.js';

const BEAT_MS = 1_000;
// Longer than any pause of a healthy process.
const SILENCE_MAX_MS = 15_000;
const BEAT = '.';

export class LinkBroken extends Error {}

/** Called with the kind of a message (its first character) and its payload. Not called for heartbeats. */
type Hear = (kind: string, payload: Buffer) => void;

export class Link {
  readonly #listener: Redis;
  readonly #speaker: Redis;
  readonly #speaksTo: string;
  readonly #broken = new AbortController();
  #hear: Hear = () => {};
  #heardAt = Date.now();
  #beat: NodeJS.Timeout | undefined;
  #isClosed = false;

  private constructor(listener: Redis, speaker: Redis, speaksTo: string) {
    this.#listener = listener;
    this.#speaker = speaker;
    this.#speaksTo = speaksTo;
  }

  static async open(redis: Redis, channel: { hears: string; speaksTo: string }): Promise<Link> {
    const [listener, speaker] = [ownConnection(redis), ownConnection(redis)];
    const link = new Link(listener, speaker, channel.speaksTo);
    for (const connection of [listener, speaker]) {
      connection.on('error', (cause) => link.#break('redis cannot be reached', cause));
      connection.on('end', () => link.#break('redis closed the connection'));
    }
    listener.on('messageBuffer', (_channel: Buffer, message: Buffer) => {
      link.#heardAt = Date.now();
      const kind = String.fromCharCode(message[0] ?? 0);
      if (kind !== BEAT) link.#hear(kind, message.subarray(1));
    });
    try {
      await Promise.all([listener.connect(), speaker.connect()]);
      await listener.subscribe(channel.hears);
    } catch (error) {
      link.close();
      throw error;
    }
    return link;
  }

  /** Must be called right after opening: earlier messages are dropped. */
  listen(hear: Hear): void {
    this.#hear = hear;
  }

  /** Aborted with a LinkBroken when the other side is gone or unreachable. */
  get broken(): AbortSignal {
    return this.#broken.signal;
  }

  /** Rejects with a LinkBroken when no receiver is subscribed. */
  async say(kind: string, ...parts: Buffer[]): Promise<void> {
    const heardBy = await this.#speaker.publish(this.#speaksTo, Buffer.concat([Buffer.from(kind), ...parts])).catch(
      // The reason is already recorded when a command on a closed connection fails.
      (cause: unknown) => this.#break('redis cannot be reached', cause),
    );
    if (heardBy === 0) this.#break('the other side has gone');
    this.#broken.signal.throwIfAborted();
  }

  /** From now on the other side must be present and send at least a heartbeat every few seconds. */
  startBeating(): void {
    this.#heardAt = Date.now();
    this.#beat ??= setInterval(() => {
      if (Date.now() - this.#heardAt > SILENCE_MAX_MS) this.#break('the other side has fallen silent');
      else this.say(BEAT).catch(() => {});
    }, BEAT_MS);
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
    this.#broken.abort(new LinkBroken(reason, { cause }));
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
