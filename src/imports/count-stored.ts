// Counts the events that an import stored: queries count its events before and after it. /track
// answers before it compares events with those that are stored, so its answers cannot say.
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { abortAfter } from '../platform/flow/abort-after.js';

export interface CountOptions {
  readonly url: string;
  /** A secret key. */
  readonly key: string;
  /** `library` of the events. */
  readonly library: string;
  readonly signal?: AbortSignal;
}

/** Resolves with the events that are counted now; undefined when the service gives no answer. */
export type CountEvents = () => Promise<number | undefined>;

const REQUEST_TIMEOUT_MS = 60_000;
const POLL_MS = 500;
/** Polls without a change after which an import that was not new counts as stored. */
const POLLS_EQUAL = 10;
/** Five minutes: another import of the same source may change the count for as long as it runs. */
const POLLS_MAX = 600;

const answerSchema = z.object({ rows: z.tuple([z.object({ count: z.number() })]) });

export function createCounter({ url, key, library, signal }: CountOptions): CountEvents {
  // All times: an import has times from 2000 on, and a query can name none after 2100.
  const q = `* | from 2000-01-01 to 2100-01-01 | where _library = ${JSON.stringify(library)} | count`;
  return async () => {
    try {
      const response = await fetch(new URL('query', url.endsWith('/') ? url : `${url}/`), {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': key },
        body: JSON.stringify({ q, format: 'json', timezone: 'UTC' }),
        signal: abortAfter(REQUEST_TIMEOUT_MS, signal),
      });
      return response.ok ? answerSchema.parse(await response.json()).rows[0].count : undefined;
    } catch {
      signal?.throwIfAborted();
      return undefined;
    }
  };
}

export interface StoredOptions {
  /** Events that were counted before the import. */
  readonly before: number;
  /** Events that the service accepted. */
  readonly sent: number;
  /** Sends the last events once more; resolves with whether they are counted. */
  readonly sendLastAgain: () => Promise<boolean>;
  /** Replaced in tests. */
  readonly wait?: () => Promise<unknown>;
}

/**
 * Waits until all events of the import are counted: until as many are new as were sent, or until
 * its last events are counted and the count has not changed for five seconds, five minutes at most.
 * Resolves with the number of new events; undefined when the service gives no answer, or does not
 * count them.
 */
export async function countStored(count: CountEvents, options: StoredOptions): Promise<number | undefined> {
  const { before, sent, sendLastAgain, wait = () => sleep(POLL_MS) } = options;
  let last = await count();
  if (last === undefined) return undefined;
  // The last events wait behind all others of the project.
  while (last - before < sent && !(await sendLastAgain())) {
    const now = await count();
    if (now === undefined || now <= last) return undefined;
    last = now;
  }
  for (let equal = 0, polls = 0; last - before < sent && equal < POLLS_EQUAL && polls < POLLS_MAX; polls += 1) {
    await wait();
    const now = await count();
    if (now === undefined) return undefined;
    equal = now === last ? equal + 1 : 0;
    last = now;
  }
  return Math.min(sent, Math.max(0, last - before));
}
