// Requests to the service, and the errors that a person can act on.

import type {} from '@tanstack/react-query';
import { readBoot } from '../boot.js';
import { recallInTab, rememberInTab } from '../shell/storage.js';
import { readClock } from './clock.js';
import { withReadFailures } from './read-failures.js';

export interface QueryDetail {
  readonly message: string;
  readonly hint: string;
  readonly line: number;
  readonly column: number;
  readonly length?: number;
}

declare module '@tanstack/react-query' {
  interface Register {
    defaultError: RequestFailed;
  }
}

/** A response other than 2xx, or none at all (status 0). */
export class RequestFailed extends Error {
  readonly status: number;
  readonly details: readonly QueryDetail[];
  readonly requestId: string | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(status: number, message: string, more: Partial<Omit<RequestFailed, 'status' | 'message'>> = {}) {
    super(message);
    this.name = 'RequestFailed';
    this.status = status;
    this.details = more.details ?? [];
    this.requestId = more.requestId;
    this.retryAfterSeconds = more.retryAfterSeconds;
  }
}

/** Whether the same request may succeed later. */
export const isPassing = (error: unknown): boolean =>
  error instanceof RequestFailed && (error.status === 0 || error.status === 429 || error.status >= 500);

/** Whether the service refused a document that has no problems: a newer version may be stored. */
export const isRefused = (error: unknown): boolean =>
  error instanceof RequestFailed && error.status === 400 && error.details.length === 0;

/** The service answers lists, and ends what a page asks to have tried, within a minute. */
const READ_WITHIN_MS = 60_000;
/** For the way there and back, so that the service can say itself what took too long. */
const GRACE_MS = 15_000;

/** After this, no answer to a query or a change comes any more. */
const answerWithinMs = (): number => Math.max(readBoot().queryWithinMs, READ_WITHIN_MS) + GRACE_MS;

/** `withinMs` is the time for the whole answer. */
export async function request(
  path: string,
  { signal: cancelled, ...init }: RequestInit = {},
  withinMs = answerWithinMs(),
): Promise<Response> {
  const late = AbortSignal.timeout(withinMs);
  const signal = cancelled ? AbortSignal.any([cancelled, late]) : late;
  const fail = (cause: unknown, message: string): never => {
    if (cancelled?.aborted) throw cause;
    throw new RequestFailed(0, late.aborted ? 'the service did not answer in time' : message);
  };
  const response = await fetch(path, {
    ...{ ...init, signal },
    headers: { Accept: 'application/json', ...init.headers },
  }).catch((cause) => fail(cause, 'the service cannot be reached: check the connection'));
  readClock(response);
  if (response.ok && isPage(response.headers.get('Content-Type'))) throw new RequestFailed(0, PAGE_CAME);
  if (response.ok) return withReadFailures(response, (cause) => fail(cause, 'the answer broke off'));
  if (response.status === 401) signInAgain();
  throw await failureOf(response);
}

export const PAGE_CAME = 'a web page came instead of an answer, perhaps the sign-in of a proxy: load the console again';

/** No route that the console asks answers with HTML. */
export const isPage = (contentType: string | null): boolean => contentType?.startsWith('text/html') === true;

export const getJson = async <T>(path: string, signal?: AbortSignal): Promise<T> =>
  (await request(path, signal && { signal }, READ_WITHIN_MS)).json();

export const postJson = async <T>(path: string, body: unknown, signal?: AbortSignal): Promise<T> =>
  (await sendJson('POST', path, body, { signal })).json();

export const putJson = async <T>(path: string, body: unknown, signal?: AbortSignal): Promise<T> =>
  (await sendJson('PUT', path, body, { signal })).json();

interface Sending {
  readonly signal?: AbortSignal | undefined;
  readonly withinMs?: number;
}

/** Without a body when it is undefined. */
export const sendJson = (
  method: string,
  path: string,
  body: unknown,
  { signal, withinMs }: Sending = {},
): Promise<Response> =>
  request(
    path,
    {
      ...{ method, headers: { 'Content-Type': 'application/json' } },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    },
    withinMs,
  );

/** From the body of the errors that the service answers. Those of a gateway may have an object. */
export async function failureOf(response: Response): Promise<RequestFailed> {
  const body = (await response.json().catch(() => ({}))) as { error?: unknown; details?: QueryDetail[] };
  const seconds = Number(response.headers.get('Retry-After'));
  const message = response.status === 401 && isTyping() ? SIGNED_OUT : body.error;
  return new RequestFailed(
    response.status,
    typeof message === 'string' ? message : `the service answered ${response.status}`,
    {
      details: body.details ?? [],
      requestId: response.headers.get('X-Request-Id') ?? undefined,
      retryAfterSeconds: seconds > 0 ? seconds : undefined,
    },
  );
}

const SIGNED_OUT = 'you are signed out: open this page in another tab and sign in there, then try again here';

/** Whether a form is open, typed into or being sent, which another page would lose. */
const isTyping = (): boolean =>
  document.querySelector(
    'dialog[open] form:not([method]), form:has(:user-valid, :user-invalid, :focus), form[aria-busy=true]',
  ) !== null;

const FRAGMENT = 'fragment-before-sign-in';

/**
 * The query behind `#` is kept in this tab: it must not be part of an address that is sent. The
 * sign-in page writes the same entry. Where storage is forbidden, the query is lost. What a form
 * has stays on its page.
 */
export function signInAgain(): void {
  if (isTyping()) return;
  const { pathname, hash } = location;
  rememberInTab(FRAGMENT, { pathname, hash });
  location.assign(`/login?next=${encodeURIComponent(pathname)}`);
}

export function restoreFragment(): void {
  const kept = recallInTab<{ pathname: string; hash: string } | null>(FRAGMENT, null);
  rememberInTab(FRAGMENT, null);
  if (kept === null) return;
  const { pathname, hash } = kept;
  if (pathname === location.pathname && location.hash === '') history.replaceState(null, '', `${pathname}${hash}`);
}
