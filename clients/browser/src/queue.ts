// Send queue: one batch after the other, each retried until it is accepted, rejected permanently,
// or dropped. Bodies are serialized when queued, so that retries are identical.
import { isAllowed } from './consent.js';
import { report, trackUrl } from './settings.js';

interface Item {
  readonly route: string;
  readonly json: string;
}

/** Queued items that are neither settled nor in flight. */
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

/** Resolves when all queued items are settled. */
export const flush = (): Promise<void> => {
  clearTimeout(timer);
  timer = 0;
  flushed = flushed.then(async () => {
    for (const batch of batches()) await deliver(batch);
  });
  return flushed;
};

/** A backlog is sent in several bodies; an identify call is sent alone. */
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

/** sendBeacon for the rest: delivered after the page is gone, without a response. */
const deliver = async (batch: Item[], isLeft?: boolean): Promise<void> => {
  const lastRetry = 2;
  const retryAfterMax = 60;
  const timeoutMs = 30_000;
  // Browsers accept 64 KiB of UTF-8 from a closing page; a UTF-16 unit is at most three bytes.
  const keepaliveLengthMax = 20_000;
  for (let retries = 0; ; ) {
    const sent = batch.filter((item) => items.delete(item));
    const route = isAllowed() && sent[0]?.route;
    if (!route) return;
    const json = sent.map((item) => item.json).join();
    const body = route === trackUrl ? `{"events":[${json}]}` : json;
    // sendBeacon returns false when its quota is used up or it is blocked; offline it returns true.
    if (isLeft && navigator.onLine && navigator.sendBeacon?.(route, body)) return;
    // A network error is retried like a 5xx.
    let status = 500;
    let retryAfter = 0;
    try {
      const response = await fetch(route, {
        method: 'POST',
        body,
        keepalive: body.length < keepaliveLengthMax,
        // Without it, one request without a response would block the queue. Missing before 2022.
        signal: AbortSignal.timeout?.(timeoutMs),
      });
      status = response.status;
      retryAfter = +(response.headers.get('Retry-After') as string) || 0;
      // An unread response counts toward the keepalive quota. A page with status 200, such as the
      // login page of a network, is no response of the service.
      if (/^</.test(await response.text()) && status < 400) status = 500;
    } catch {}
    if (status < 400) return;
    const { onLine } = navigator;
    if ((status < 500 && status !== 429) || (onLine && retries > lastRetry)) return report(status);
    sent.map((item) => items.add(item));
    await new Promise((resolve) =>
      onLine
        ? setTimeout(resolve, 1000 * Math.max(2 ** retries++, Math.min(retryAfter, retryAfterMax)))
        : addEventListener('online', resolve),
    );
    // The page stays: one request at a time, because all requests together exceed the browser's
    // quota for closing pages.
    if (isLeft) return flush();
  }
};

/** Sends everything at once, for a page that is closing. Without consent the queue is empty. */
export const leave = (): void => {
  for (const batch of batches()) deliver(batch, true);
};
