// HTTP client of the fault runs, with the retries of the clients: three, after 1, 2 and 4 seconds,
// with the same bytes. It sometimes closes the connection before the response, and sends every
// acknowledged batch a second time.
import { setTimeout as delay } from 'node:timers/promises';
import type { Random } from './random.js';

/** `unknown`: no response arrived, so the request may have been accepted or not. */
export type Outcome = 'acknowledged' | 'refused' | 'unknown';

/** Before each attempt. */
export const PAUSES_MS: readonly number[] = [0, 1000, 2000, 4000];
const REQUEST_TIMEOUT_MS = 15_000;

/** Counts of hang-ups and repeated batches. */
export interface Mischief {
  hungUp: number;
  sentTwice: number;
}

export interface Sender {
  /** Sends until the request is acknowledged or all attempts are used up. */
  send(path: '/track' | '/identify', body: object): Promise<Outcome>;
}

interface SenderOptions {
  readonly url: string;
  readonly key: string;
  readonly random: Random;
  readonly mischief: Mischief;
  readonly pausesMs?: readonly number[];
}

export function createSender(options: SenderOptions): Sender {
  async function attempt(path: string, body: string, signal: AbortSignal): Promise<Outcome> {
    try {
      const response = await fetch(options.url + path, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'X-API-Key': options.key },
        body,
        signal,
      });
      await response.arrayBuffer();
      if (response.ok) return 'acknowledged';
      // After a 5xx, some of the request may have been stored.
      return response.status >= 500 ? 'unknown' : 'refused';
    } catch {
      return 'unknown';
    }
  }

  return {
    async send(path, body) {
      const text = JSON.stringify(body);
      const { random, mischief, pausesMs = PAUSES_MS } = options;
      let outcome: Outcome = 'refused';
      // Only events have an idempotency key. An unanswered identify call is not repeated, because
      // the check could not tell how often its increments count.
      const isRepeatable = path === '/track';
      if (isRepeatable && random.next() < 0.1) {
        mischief.hungUp += 1;
        outcome = await attempt(path, text, AbortSignal.timeout(random.between(1, 30)));
      }
      for (const pause of pausesMs) {
        await delay(pause);
        const latest = await attempt(path, text, AbortSignal.timeout(REQUEST_TIMEOUT_MS));
        if (latest === 'acknowledged') {
          if (isRepeatable) {
            mischief.sentTwice += 1;
            await attempt(path, text, AbortSignal.timeout(REQUEST_TIMEOUT_MS));
          }
          return latest;
        }
        if (latest === 'unknown') outcome = latest;
        if (!isRepeatable && latest === 'unknown') return latest;
      }
      return outcome;
    },
  };
}
