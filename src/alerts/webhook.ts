// Calls a webhook: one signed POST to a checked address, without redirects, proxies or cookies. Of
// the response only the status is read, so a webhook cannot be used to read pages of other servers.
import { createHmac } from 'node:crypto';
import { type RequestOptions, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { LookupFunction } from 'node:net';
import { orAborted } from '../platform/flow/or-aborted.js';
import { type AddressGuard, AddressRefused, type HostAddress, resolveChecked } from './addresses.js';
import { describeCallFailure } from './call-failure.js';

export interface WebhookCall {
  readonly url: URL;
  /** The same for each attempt, so that a receiver can recognize a repetition. */
  readonly deliveryId: string;
  /** JSON. */
  readonly body: string;
  /** The project's key for signatures. */
  readonly secret: string;
}

export interface WebhookOptions extends AddressGuard {
  /** From the first lookup to the status. */
  readonly timeoutMs: number;
  /** Unix time of the signature, in seconds. */
  readonly nowSeconds: () => number;
}

/** `isFinal`: another attempt would have the same result. */
export type CallResult =
  | { readonly isDelivered: true }
  | { readonly isDelivered: false; readonly isFinal: boolean; readonly reason: string };

const RESPONSE_HEADER_BYTES_MAX = 16 * 1024;

/** `t=1700000000,v1=` and the HMAC-SHA256 of `1700000000.<body>`, in hexadecimal. */
export function signatureOf(body: string, secret: string, seconds: number): string {
  return `t=${seconds},v1=${createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')}`;
}

/** Never rejects. */
export async function callWebhook(call: WebhookCall, options: WebhookOptions): Promise<CallResult> {
  const signal = AbortSignal.timeout(options.timeoutMs);
  try {
    const addresses = await orAborted(resolveChecked(call.url.hostname, options), signal);
    const status = await post(call, { addresses, signal, seconds: options.nowSeconds() });
    if (status >= 200 && status < 300) return { isDelivered: true };
    const isRedirect = status >= 300 && status < 400;
    const reason = isRedirect ? `status ${status}: redirects are not followed` : `status ${status}`;
    return { isDelivered: false, isFinal: isRedirect, reason };
  } catch (error) {
    if (error instanceof AddressRefused) return { isDelivered: false, isFinal: true, reason: error.message };
    const reason = signal.aborted
      ? `no answer within ${options.timeoutMs / 1000} s`
      : describeCallFailure(error, call.url);
    return { isDelivered: false, isFinal: false, reason };
  }
}

interface Connecting {
  readonly addresses: readonly HostAddress[];
  readonly signal: AbortSignal;
  readonly seconds: number;
}

function post(call: WebhookCall, { addresses, signal, seconds }: Connecting): Promise<number> {
  const { url, body, secret, deliveryId } = call;
  const options: RequestOptions = {
    method: 'POST',
    // No connection is kept: the next call checks the addresses of its host again.
    agent: false,
    lookup: lookupIn(addresses),
    maxHeaderSize: RESPONSE_HEADER_BYTES_MAX,
    signal,
    headers: {
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Length': Buffer.byteLength(body),
      'User-Agent': 'event-analytics-alerts/1',
      'X-Delivery-Id': deliveryId,
      'X-Signature': signatureOf(body, secret, seconds),
    },
  };
  return new Promise((resolve, reject) => {
    const sent = url.protocol === 'https:' ? requestHttps(url, options) : requestHttp(url, options);
    sent.on('error', reject);
    sent.on('response', (response) => {
      resolve(response.statusCode ?? 0);
      response.destroy();
    });
    // Without this listener Node ends the request after a 101, and emits neither of the above.
    sent.on('upgrade', (response, socket) => {
      resolve(response.statusCode ?? 0);
      socket.destroy();
    });
    sent.end(body);
  });
}

/** Answers every lookup of the connection with the checked addresses. */
const lookupIn =
  (addresses: readonly HostAddress[]): LookupFunction =>
  (_host, { all }, callback) => {
    const [first] = addresses;
    if (all === true) callback(null, [...addresses]);
    else callback(null, first?.address ?? '', first?.family);
  };
