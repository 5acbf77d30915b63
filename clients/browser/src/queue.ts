// What waits to be sent, and its sending: one batch after the other, each repeated until it is taken, refused for good,
// or given up. Bodies are spelled when they are queued, so every repetition is the same.
import { isAllowed } from './consent.js';
import { report, trackUrl } from './settings.js';

interface Item {
  readonly route: string;
  readonly json: string;
}

/** All that is neither settled nor under way. */
const items = new Set<Item>();
let timer = 0;
let flushed = Promise.resolve();

export const enqueue = (route: string, body: object): undefined => {
  const itemsMax = 10_000;
  const batchItems = 10;
  const delayMs = 2000;
  if (items.size >= itemsMax) return report('queue full');
  items.add({ route, json: JSON.stringify(body) });
  if (items.size >= batchItems) flush();
  else timer ||= setTimeout(flush, delayMs);
};

/** Resolves when everything that was queued has been settled. */
export const flush = (): Promise<void> => {
  clearTimeout(timer);
  timer = 0;
  flushed = flushed.then(async () => {
    for (const batch of batches()) await deliver(batch);
  });
  return flushed;
};

/** What piled up goes in several bodies; an identify goes alone. */
const batches = (): Item[][] => {
  const lengthMax = 19_000;
  const all: Item[][] = [];
  let last: Item[] = [];
  let room = 0;
  for (const item of items) {
    const isEvent = item.route === trackUrl;
    room -= item.json.length;
    if (isEvent && room > 0) last.push(item);
    else {
      last = [item];
      all.push(last);
      room = +isEvent * lengthMax - item.json.length;
    }
  }
  return all;
};

/** What is left is handed to the browser, which sends it whatever becomes of the page, but tells nobody what was answered. */
const deliver = async (batch: Item[], isLeft?: boolean): Promise<void> => {
  const retriesMax = 3;
  const retryAfterMax = 60;
  // Browsers take 64 KiB of UTF-8 from a page that is closed, and each unit of a string's length is three bytes at most.
  const keepaliveLengthMax = 20_000;
  for (let retries = 0; ; ) {
    const sent = batch.filter((item) => items.delete(item));
    if (!sent[0] || !isAllowed()) return;
    const { route } = sent[0];
    const json = sent.map((item) => item.json).join();
    const body = route === trackUrl ? `{"events":[${json}]}` : json;
    // It says no when it has too much to send already, or must not; offline, it would say yes.
    if (isLeft && navigator.onLine && navigator.sendBeacon?.(route, body)) return;
    // No answer is the same as one that asks to try again.
    let status = 500;
    let retryAfter = 0;
    try {
      const response = await fetch(route, {
        method: 'POST',
        body,
        keepalive: body.length < keepaliveLengthMax,
      });
      status = response.status;
      retryAfter = +(response.headers.get('Retry-After') as string) || 0;
      // Until it is read, an answer counts towards what pages that are closed may send.
      await response.text();
    } catch {}
    if (status < 400) return;
    const { onLine } = navigator;
    if ((status < 500 && status !== 429) || (onLine && retries >= retriesMax)) return report(status);
    sent.map((item) => items.add(item));
    await new Promise((resolve) =>
      onLine
        ? setTimeout(resolve, 1000 * Math.max(2 ** retries++, Math.min(retryAfter, retryAfterMax)))
        : addEventListener('online', resolve),
    );
  }
};

/** All at once, for a page that may be gone before it hears of any answer. Without consent, nothing is left to send. */
export const leave = (): void => {
  for (const batch of batches()) deliver(batch, true);
};
