// Requests of `npm run types`: one for each event type, below the rate limit of a key.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Ask } from '../src/event-types/model.js';
import { paced } from '../src/imports/pace.js';
import type { ImportTarget } from '../src/imports/target.js';

/** Half of the default of QUERY_REQUESTS_PER_SECOND: others may use the key, too. */
const PER_SECOND = 10;
/** Of a request that the rate limit refuses, the first included. */
const ATTEMPTS_MAX = 5;

/** Throws an error that names the address and the answer when it is none of success. */
export function createAsk({ url, key }: ImportTarget): Ask {
  const send = paced((request: Request) => fetch(request), { perSecond: PER_SECOND });
  return async (path, body) => {
    const request = new Request(new URL(path, url), {
      headers: { 'Content-Type': 'application/json', 'X-API-Key': key },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    });
    for (let attempt = 1; ; attempt++) {
      const response = await send(request.clone()).catch((cause: unknown) => {
        throw new Error(`${url} does not answer: nothing can be read`, { cause });
      });
      if (response.ok) return response.json();
      const text = await response.text();
      if (response.status !== 429 || attempt === ATTEMPTS_MAX) {
        throw new Error(`${request.url} answered ${response.status}: ${text}`);
      }
      await sleep(Number(response.headers.get('Retry-After')) * 1000);
    }
  };
}
