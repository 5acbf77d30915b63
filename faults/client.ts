// A client as the specification's guidance has it: at most three attempts, 1, 2 and 4 seconds apart, the same bytes each time.
// Now and then it hangs up before the answer, and every batch that was acknowledged it sends once more.
import { setTimeout as delay } from 'node:timers/promises';
import type { Random } from './random.js';

/** `unknown`: no answer came, so that it may or may not have been taken. */
export type Outcome = 'acknowledged' | 'refused' | 'unknown';

const RETRY_DELAYS_MS = [1000, 2000, 4000];
const REQUEST_TIMEOUT_MS = 15_000;

/** What clients did beside sending and trying again. */
export interface Mischief {
  hungUp: number;
  sentTwice: number;
}

export interface Sender {
  /** Sends until it is answered or given up. */
  send(path: '/track' | '/identify', body: object): Promise<Outcome>;
}

export function createSender(options: { url: string; key: string; random: Random; mischief: Mischief }): Sender {
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
      // A 5xx says that it failed, not that nothing was stored before it did.
      return response.status >= 500 ? 'unknown' : 'refused';
    } catch {
      return 'unknown';
    }
  }

  return {
    async send(path, body) {
      const text = JSON.stringify(body);
      const { random, mischief } = options;
      let outcome: Outcome = 'refused';
      // Only events have a key of their own: an identify call that was not answered must not be sent again here, since
      // the check below could not say how often its increments count.
      const isRepeatable = path === '/track';
      if (isRepeatable && random.next() < 0.1) {
        mischief.hungUp += 1;
        outcome = await attempt(path, text, AbortSignal.timeout(random.between(1, 30)));
      }
      for (const pause of RETRY_DELAYS_MS) {
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
        await delay(pause);
      }
      return outcome;
    },
  };
}
