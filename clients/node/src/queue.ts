// Background send queue: one request after the other, each retried until it is accepted, rejected
// permanently, or dropped. Bodies are queued as text, so that retries are identical.
import { isPassing, RETRIES_MAX, retryDelayMs } from './retry-delay.js';
import { toPageError, toServiceError } from './service-error.js';
import { ServiceError } from './types.js';

export type Route = '/track' | '/identify';

interface Item {
  readonly route: Route;
  readonly json: string;
}

export interface QueueOptions {
  readonly key: string;
  readonly host: string;
  readonly queueMax: number;
  readonly onError: (error: Error, lost: number) => void;
}

const BATCH_ITEMS = 10;
/** Characters of a queue of up to `LENGTH_ITEMS` items; longer ones have more in proportion. */
const LENGTH_MAX = 20_000_000;
const LENGTH_ITEMS = 10_000;
const FLUSH_DELAY_MS = 2000;
/** A backlog is sent in larger batches, well below the limits of the service. */
const PILED_ITEMS_MAX = 500;
const PILED_LENGTH_MAX = 1_000_000;
const REQUEST_TIMEOUT_MS = 10_000;
const TOO_LARGE = 413;

/** States: open → closing (`close` flushes) → closed, which rejects new items. */
export class SendQueue {
  readonly #options: QueueOptions;
  readonly #ended = new AbortController();
  #items: Item[] = [];
  #added = 0;
  /** Items in flight, which count toward the limit. */
  #flying = 0;
  /** Characters of all items, those in flight included. */
  #length = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #flushed: Promise<void> = Promise.resolve();
  #closed: Promise<void> | undefined;

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  /** Whether the item is queued; otherwise it is reported as lost. */
  add(route: Route, json: string): boolean {
    const refusal = this.#findRefusal();
    if (refusal !== undefined) {
      void this.#report(new Error(refusal), 1);
      return false;
    }
    this.#items.push({ route, json });
    this.#added += 1;
    this.#length += json.length;
    if (this.#items.length >= BATCH_ITEMS) void this.flush();
    // The timer keeps an otherwise idle process alive until the last events are sent.
    else this.#timer ??= setTimeout(() => void this.flush(), FLUSH_DELAY_MS);
    return true;
  }

  #findRefusal(): string | undefined {
    if (this.#closed !== undefined) return 'the client is closed';
    const { queueMax } = this.#options;
    if (this.#items.length + this.#flying >= queueMax) return `the queue is full: ${queueMax} wait to be sent`;
    const lengthMax = LENGTH_MAX * Math.max(1, queueMax / LENGTH_ITEMS);
    return this.#length < lengthMax ? undefined : `the queue is full: ${this.#length} characters wait to be sent`;
  }

  /** Resolves when everything queued so far is delivered or dropped. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const added = this.#added;
    if (this.#items.length > 0) this.#flushed = this.#flushed.then(() => this.#drain(added));
    return this.#flushed;
  }

  /** Flushes for at most `timeoutMs`. Further calls get the same promise. */
  close(timeoutMs: number): Promise<void> {
    this.#closed ??= this.#end(timeoutMs);
    return this.#closed;
  }

  async #end(timeoutMs: number): Promise<void> {
    const timer = setTimeout(
      () => this.#ended.abort(new Error('the client was closed before this was sent')),
      timeoutMs,
    );
    await this.flush();
    clearTimeout(timer);
  }

  /** Sends the first `added` items of all: a caller that waits must not wait for later ones. */
  async #drain(added: number): Promise<void> {
    while (this.#added - this.#items.length < added) {
      const batch = this.#take();
      this.#flying = batch.length;
      await this.#settle(batch);
    }
  }

  /**
   * Delivers the items or reports them as lost. A body above the limit of a proxy, which may be
   * lower than that of the service, is sent in halves.
   */
  async #settle(batch: readonly Item[]): Promise<void> {
    const error = await this.#deliver(batch);
    if (error instanceof ServiceError && error.status === TOO_LARGE && batch.length > 1) {
      const middle = Math.ceil(batch.length / 2);
      await this.#settle(batch.slice(0, middle));
      await this.#settle(batch.slice(middle));
      return;
    }
    this.#flying -= batch.length;
    for (const { json } of batch) this.#length -= json.length;
    if (error !== undefined) void this.#report(error, batch.length);
  }

  /** The next request: an identify alone, or the events before the next identify. */
  #take(): Item[] {
    const route = this.#items[0]?.route;
    let length = 0;
    let count = this.#items.findIndex((item, index) => {
      length += item.json.length;
      return item.route !== route || index >= PILED_ITEMS_MAX || (index > 0 && length > PILED_LENGTH_MAX);
    });
    if (count === -1) count = this.#items.length;
    return this.#items.splice(0, route === '/identify' ? 1 : count);
  }

  /** Resolves with the permanent error, or undefined. */
  async #deliver(batch: readonly Item[]): Promise<Error | undefined> {
    const route = batch[0]?.route ?? '/track';
    const json = batch.map((item) => item.json).join();
    const body = route === '/track' ? `{"events":[${json}]}` : json;
    for (let retry = 0; ; retry += 1) {
      const { error, isFinal, retryAfter } = await this.#attempt(route, body);
      if (error === undefined || isFinal || retry === RETRIES_MAX || this.#ended.signal.aborted) return error;
      await this.#sleep(retryDelayMs(retry, retryAfter));
    }
  }

  async #attempt(route: Route, body: string): Promise<{ error?: Error; isFinal?: boolean; retryAfter: string | null }> {
    const attempt = new AbortController();
    const abort = () => attempt.abort(new Error('the service did not answer in time'));
    const timer = setTimeout(abort, REQUEST_TIMEOUT_MS);
    this.#ended.signal.addEventListener('abort', abort);
    try {
      this.#ended.signal.throwIfAborted();
      const headers = { 'Content-Type': 'application/json', 'X-API-Key': this.#options.key };
      const response = await fetch(`${this.#options.host}${route}`, {
        method: 'POST',
        headers,
        body,
        signal: attempt.signal,
      });
      const text = await response.text();
      const retryAfter = response.headers.get('Retry-After');
      // A redirect with 301 or 302 repeats a POST as a GET, without its body: any page answers 200.
      if (response.ok && response.redirected && !response.headers.get('Content-Type')?.includes('json'))
        return { error: new Error(`the request was redirected to ${response.url}`), isFinal: true, retryAfter };
      const error = toPageError(response);
      if (error !== undefined) return { error, retryAfter };
      if (response.ok) return { retryAfter };
      return { error: toServiceError(response.status, text), isFinal: !isPassing(response.status), retryAfter };
    } catch (error) {
      return { error: error instanceof Error ? error : new Error(String(error)), retryAfter: null };
    } finally {
      clearTimeout(timer);
      this.#ended.signal.removeEventListener('abort', abort);
    }
  }

  #sleep(ms: number): Promise<void> {
    const { signal } = this.#ended;
    return new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      const timer = setTimeout(wake, ms);
      signal.addEventListener('abort', wake);
    });
  }

  /** Never rejects: an error of the callback, which may be async, must not end the process. */
  async #report(error: Error, lost: number): Promise<void> {
    try {
      await this.#options.onError(error, lost);
    } catch {
      // Ignore errors of the callback itself.
    }
  }
}
