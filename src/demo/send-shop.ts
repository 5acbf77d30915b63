// Sends the demo shop to a service: events to /track and users to /identify, at the same time and
// below the limits of a project. Resolves when queries count all of it.
import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Batch, BatchBuilder } from '../imports/batches.js';
import { createIdentifyClient, createTrackClient } from '../imports/track-client.js';
import { ConcurrencyLimit } from '../platform/flow/concurrency-limit.js';
import { callService } from './call-service.js';
import type { Shop } from './generate.js';
import { createPace } from './pace.js';

export interface DemoService {
  readonly url: string;
  readonly publicKey: string;
  readonly secretKey: string;
  /** User agent of the sender. */
  readonly userAgent: string;
  readonly signal?: AbortSignal | undefined;
}

export interface DemoProgress {
  readonly events: number;
  readonly users: number;
  /** Progress of the slower of the two, from 0 to 1. */
  readonly share: number;
}

export interface SentShop {
  readonly events: number;
  readonly users: number;
}

// The defaults of the service are 50,000 events of a project and 200 identify calls of a key.
const EVENTS_PER_SECOND = 45_000;
const IDENTIFY_CALLS_PER_SECOND_AND_KEY = 130;
const TRACK_REQUESTS_MAX = 3;
/** Calls at the same time share a job and a transaction: evenly spread, each has its own. */
const IDENTIFY_BURST = 52;
const COUNTED_WITHIN_MS = 120_000;
const COUNT_PAUSE_MS = { first: 50, max: 1000 } as const;

export async function sendShop(
  shop: Shop,
  service: DemoService,
  onProgress: (progress: DemoProgress) => void = () => {},
): Promise<SentShop> {
  const failure = new AbortController();
  const signal = service.signal === undefined ? failure.signal : AbortSignal.any([service.signal, failure.signal]);
  // All requests wait with it for their next attempt.
  setMaxListeners(0, signal);
  const shares = { events: 0, users: 0 };
  const sent = { events: 0, users: 0 };
  const report = () => onProgress({ ...sent, share: Math.min(shares.events, shares.users) });
  const onEvents = (accepted: number, share: number) => {
    sent.events += accepted;
    shares.events = share;
    report();
  };
  const onUser = (share: number) => {
    sent.users += 1;
    shares.users = share;
    report();
  };
  const both = [
    sendEvents(shop, { ...service, signal }, onEvents),
    identifyUsers(shop, { ...service, signal }, onUser),
  ].map((sending) => sending.catch((cause: unknown) => stopBoth(failure, cause)));
  await Promise.all(both);
  await waitUntilCounted(sent.events, shop, service);
  return sent;
}

/** The first failure ends the other half too. */
function stopBoth(failure: AbortController, cause: unknown): never {
  failure.abort(cause);
  throw cause;
}

async function sendEvents(
  shop: Shop,
  { secretKey: key, ...service }: DemoService & { readonly signal: AbortSignal },
  onSent: (accepted: number, share: number) => void,
): Promise<void> {
  const send = createTrackClient({ ...service, key });
  const pace = createPace(EVENTS_PER_SECOND, service.signal);
  const requests = new ConcurrencyLimit(TRACK_REQUESTS_MAX);
  const builder = new BatchBuilder();
  const submit = async (batch: Batch, share: number): Promise<void> => {
    await pace(batch.events);
    await requests.push(async () => onSent((await send(batch.body)).accepted, share));
  };
  let visits = 0;
  for (const events of shop.visits()) {
    visits += 1;
    for (const event of events) {
      const full = builder.add(event);
      if (full !== undefined) await submit(full, visits / shop.visitCount);
    }
  }
  const last = builder.take();
  if (last !== undefined) await submit(last, 1);
  await requests.drain();
}

/** Alternates between the two keys, which have a rate limit each. */
async function identifyUsers(
  { identifications }: Shop,
  { publicKey, secretKey, ...service }: DemoService & { readonly signal: AbortSignal },
  onSent: (share: number) => void,
): Promise<void> {
  const clients = [publicKey, secretKey].map((key) => createIdentifyClient({ ...service, key }));
  const pace = createPace(IDENTIFY_CALLS_PER_SECOND_AND_KEY * clients.length, service.signal);
  const requests = new ConcurrencyLimit(IDENTIFY_BURST);
  let done = 0;
  for (const [index, identification] of identifications.entries()) {
    const send = clients[index % clients.length];
    if (index % IDENTIFY_BURST === 0) await pace(IDENTIFY_BURST);
    await requests.push(async () => {
      await send?.(JSON.stringify(identification));
      done += 1;
      onSent(done / identifications.length);
    });
  }
  await requests.drain();
}

async function waitUntilCounted(events: number, shop: Shop, service: DemoService): Promise<void> {
  const users = new Set(shop.identifications.map(({ user_id: id }) => id)).size;
  const untilMs = performance.now() + COUNTED_WITHIN_MS;
  await waitForCount({ q: '* | last 91d | count', expected: events, unit: 'events', untilMs }, service);
  await waitForCount({ q: 'users | last 91d | count', expected: users, unit: 'users', untilMs }, service);
}

interface ExpectedCount {
  readonly q: string;
  readonly expected: number;
  readonly unit: string;
  /** As `performance.now()`. */
  readonly untilMs: number;
}

/** The pauses double: the machine that counts may be the one that still stores. */
async function waitForCount({ q, expected, unit, untilMs }: ExpectedCount, service: DemoService): Promise<void> {
  for (let pauseMs: number = COUNT_PAUSE_MS.first; ; pauseMs = Math.min(2 * pauseMs, COUNT_PAUSE_MS.max)) {
    const found = await count(q, service);
    if (found === expected) return;
    if (performance.now() > untilMs) {
      throw new Error(`the service has only stored ${found} of ${expected} ${unit} so far; are its workers running?`);
    }
    await sleep(pauseMs, undefined, { signal: service.signal });
  }
}

/** -1 when the service cannot answer at the moment. */
async function count(q: string, service: DemoService): Promise<number> {
  const request = { method: 'POST', path: 'query', body: { q, format: 'json' } } as const;
  const { status, text } = await callService(service, request);
  if (status === 429 || status >= 500) return -1;
  if (status !== 200) throw new Error(`${q}: ${status} ${text}`);
  const { rows } = JSON.parse(text) as { rows: { value: number }[] };
  return rows[0]?.value ?? 0;
}
