// A conversation of two processes over a pair of Redis channels (publish and subscribe). Redis passes the messages on and keeps
// nothing: neither its memory nor its append-only file ever holds them. What is lost breaks the link instead of going
// unnoticed: PUBLISH tells how many heard it, each side says something every second, and a link never reconnects.
//
// States: open (hears, may speak) → beating (knows the other side, and notices when it is gone) → broken or closed.
import type { Redis } from './client.js';

const BEAT_MS = 1_000;
// Longer than anything that holds up a healthy process.
const SILENCE_MAX_MS = 15_000;
const BEAT = '.';

export class LinkBroken extends Error {}

/** Called with the first character of each message, its kind, and the rest. Never for beats. */
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

  /** To be called at once: what is heard before is forgotten. */
  listen(hear: Hear): void {
    this.#hear = hear;
  }

  /** Aborted with a LinkBroken when the other side is gone, or cannot be reached any more. */
  get broken(): AbortSignal {
    return this.#broken.signal;
  }

  /** Rejects with a LinkBroken when nobody hears it. */
  async say(kind: string, ...parts: Buffer[]): Promise<void> {
    const heardBy = await this.#speaker.publish(this.#speaksTo, Buffer.concat([Buffer.from(kind), ...parts])).catch(
      // Why the connection ended is known already when a command on it fails.
      (cause: unknown) => this.#break('redis cannot be reached', cause),
    );
    if (heardBy === 0) this.#break('the other side has gone');
    this.#broken.signal.throwIfAborted();
  }

  /** From now on the other side has to be there, and to speak at least every few seconds. */
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

/** Fails instead of waiting: what was said while the connection was away is lost anyway. */
const ownConnection = (redis: Redis): Redis =>
  redis.duplicate({
    lazyConnect: true,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
    autoResubscribe: false,
  });
