// Clients of POST /track and /identify with the retry policy that the service asks of all clients.
// A repeated batch has the same ids and times, so it counts once.
import { setTimeout as sleep } from 'node:timers/promises';
import { abortAfter } from '../platform/flow/abort-after.js';

export interface TrackClientOptions {
  readonly url: string;
  readonly key: string;
  readonly userAgent: string;
  readonly signal?: AbortSignal;
  /** Replaced in tests. */
  readonly wait?: (delayMs: number) => Promise<unknown>;
  readonly onRetry?: (reason: string, delayMs: number) => void;
}

export interface Answer {
  readonly accepted: number;
  /** Events that a rule of the project drops. */
  readonly dropped?: number;
  /** Only with `wait=1`: whether queries count the events. */
  readonly counted?: boolean;
}

export type SendBatch = (body: string) => Promise<Answer>;

/** A batch was rejected. The message is printed to the terminal. */
export class TrackError extends Error {
  override readonly name = 'TrackError';
  /** Whether a later attempt may succeed. */
  readonly isPassing: boolean;

  constructor(message: string, options: { isPassing: boolean }) {
    super(message);
    this.isPassing = options.isPassing;
  }
}

type Attempt =
  | { readonly kind: 'accepted'; readonly answer: Answer }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'passing'; readonly reason: string; readonly retryAfterMs: number };

const RETRY_DELAYS_MS = [1000, 2000, 4000];
const RETRY_AFTER_MAX_MS = 60_000;
const REQUEST_TIMEOUT_MS = 60_000;
/** The service itself says what is too large. */
const LIMITED_BY_PROXY =
  'of a proxy in front of the service: let it take bodies of MAX_REQUEST_BYTES (client_max_body_size of nginx)';

export const createTrackClient = (
  options: TrackClientOptions & {
    /** Whether events replace those of the same ids that have no hostname. */
    readonly replacesHostless?: boolean;
  },
): SendBatch =>
  createClient(options, options.replacesHostless ? { ...TRACK, path: 'track?replace=without-host' } : TRACK);

/** Each batch is answered when its events are counted, or after ten seconds. */
export const createWaitingTrackClient = (options: TrackClientOptions): SendBatch =>
  createClient(options, { ...TRACK, path: 'track?wait=1' });

/** Each batch has the links and properties of up to 1,000 calls. */
export const createIdentifyBatchClient = (options: TrackClientOptions): SendBatch =>
  createClient(options, { ...TRACK, path: 'identify/batch' });

/** Each call is one accepted identification. */
export const createIdentifyClient = (options: TrackClientOptions): SendBatch => createClient(options, IDENTIFY);

interface Route {
  readonly path: string;
  /** Undefined for an answer that the service would not give. */
  readonly readAnswer: (answer: Record<string, unknown>) => Answer | undefined;
  readonly missing: string;
}

const TRACK: Route = {
  path: 'track',
  readAnswer: ({ accepted, dropped, counted }) =>
    typeof accepted === 'number'
      ? { accepted, ...(typeof dropped === 'number' && { dropped }), ...(counted === true && { counted }) }
      : undefined,
  missing: '"accepted"',
};
const IDENTIFY: Route = {
  path: 'identify',
  readAnswer: ({ ok }) => (ok === true ? { accepted: 1 } : undefined),
  missing: '"ok"',
};

function createClient(options: TrackClientOptions, route: Route): SendBatch {
  const wait = options.wait ?? ((delayMs: number) => sleep(delayMs, undefined, { signal: options.signal }));
  return async (body) => {
    for (let attempt = 0; ; attempt += 1) {
      const result = await postOnce(options, route, body);
      if (result.kind === 'accepted') return result.answer;
      const delayMs = RETRY_DELAYS_MS[attempt];
      if (result.kind === 'refused') {
        throw new TrackError(`${options.url} refused the events: ${result.reason}`, { isPassing: false });
      }
      if (delayMs === undefined) {
        throw new TrackError(`${options.url} does not take events: ${result.reason}`, { isPassing: true });
      }
      const waitMs = Math.max(delayMs, Math.min(result.retryAfterMs, RETRY_AFTER_MAX_MS));
      options.onRetry?.(result.reason, waitMs);
      await wait(waitMs);
    }
  };
}

async function postOnce(
  { url, key, userAgent, signal }: TrackClientOptions,
  route: Route,
  body: string,
): Promise<Attempt> {
  try {
    const response = await fetch(new URL(route.path, withSlash(url)), {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': key, 'user-agent': userAgent },
      body,
      signal: abortAfter(REQUEST_TIMEOUT_MS, signal),
    });
    return toAttempt(response, route, await response.text());
  } catch (cause) {
    // fetch reports every network failure as a TypeError with the reason as its cause.
    signal?.throwIfAborted();
    const reason = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
    return { kind: 'passing', reason: describe(reason), retryAfterMs: 0 };
  }
}

function toAttempt(response: Response, { readAnswer, missing }: Route, text: string): Attempt {
  if (response.ok) {
    const answer = readAnswer(tryReadJson(text) ?? {});
    if (answer !== undefined) return { kind: 'accepted', answer };
    return { kind: 'refused', reason: `its answer has no ${missing}; is this the address of the service?` };
  }
  const message = tryReadJson(text)?.error ?? (response.status === 413 ? LIMITED_BY_PROXY : undefined);
  const reason = `status ${response.status}${typeof message === 'string' ? `, ${message}` : ''}`;
  if (response.status !== 429 && response.status < 500) return { kind: 'refused', reason };
  return { kind: 'passing', reason, retryAfterMs: toRetryAfterMs(response.headers.get('retry-after')) };
}

/** Retry-After in seconds; the service never sends a date. */
const toRetryAfterMs = (header: string | null): number => (/^\d+$/.test(header ?? '') ? Number(header) * 1000 : 0);

const withSlash = (url: string): string => (url.endsWith('/') ? url : `${url}/`);

function describe(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  // An AggregateError (IPv4 and IPv6 both failed) has a code and no message.
  return cause.message !== '' ? cause.message : String('code' in cause ? cause.code : cause.name);
}

function tryReadJson(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
