// Maps a parsed access-log line to a page_view event for /track. Pure and deterministic: the same
// file gives the same ids, so an import can be repeated.
import { createHash } from 'node:crypto';
import { isIP } from 'node:net';
import type { AccessLogLine } from './access-log-line.js';

/** Request body of one event. The service accepts `ip` and `user_agent` only with a secret key. */
export interface PageViewEvent {
  readonly event_type: 'page_view';
  readonly time: string;
  readonly insert_id: string;
  readonly device_id?: string;
  readonly event_properties: Readonly<Record<string, string | number>>;
  /**
   * Empty when the log has none. When absent, the service would use the address and user agent of
   * the importer.
   */
  readonly ip: string;
  readonly user_agent: string;
  readonly library: string;
  readonly origin: 'server';
}

export interface LineIdentity {
  readonly digest: Buffer;
  /** Number of identical lines before this one. */
  readonly repetition: number;
}

export interface PageViewOptions {
  /**
   * Origin such as `https://example.com`, prefixed to each path. Without it `url` is the logged
   * path.
   */
  readonly site: string | undefined;
  /** Name and version of the sender. */
  readonly library: string;
}

/**
 * Maximum value length of the service. Longer URLs are cut, because the event would be rejected
 * otherwise.
 */
const PROPERTY_BYTES_MAX = 8192;

export const digestLine = (text: string): Buffer => digest('line', text);

export function toPageView(line: AccessLogLine, identity: LineIdentity, options: PageViewOptions): PageViewEvent {
  const deviceId = toDeviceId(line);
  return {
    event_type: 'page_view',
    time: new Date(line.timeMs).toISOString(),
    insert_id: toInsertId(identity),
    ...(deviceId === undefined ? {} : { device_id: deviceId }),
    event_properties: toProperties(line, options.site),
    ip: line.address !== undefined && isIP(line.address) !== 0 ? line.address : '',
    user_agent: line.userAgent ?? '',
    library: options.library,
    origin: 'server',
  };
}

function toProperties(line: AccessLogLine, site: string | undefined): Record<string, string | number> {
  const { request } = line;
  const properties: Record<string, string | number | undefined> = {
    url: request?.kind === 'http' ? tryToUrl(request.target, site) : undefined,
    referrer: line.referrer,
    status: line.status,
    method: request?.kind === 'http' ? request.method : undefined,
    // Keep malformed request lines for inspection: they usually come from scanners.
    request: request?.kind === 'malformed' ? request.text : undefined,
    bytes: line.bytes,
  };
  const defined = Object.entries(properties).flatMap(([key, value]): [string, string | number][] =>
    value === undefined ? [] : [[key, typeof value === 'string' ? cutToBytes(value, PROPERTY_BYTES_MAX) : value]],
  );
  return Object.fromEntries(defined);
}

/** Undefined for request targets without a path: `*` (OPTIONS) and `host:port` (CONNECT). */
function tryToUrl(target: string, site: string | undefined): string | undefined {
  if (/^https?:\/\//i.test(target)) return target;
  // Concatenate as text: new URL() would read `//admin` as a host.
  return target.startsWith('/') ? `${site ?? ''}${target}` : undefined;
}

/** Undefined without an address: otherwise all such visitors would become one device. */
function toDeviceId({ address, userAgent }: AccessLogLine): string | undefined {
  return address === undefined ? undefined : toIdText(digest('device', `${address}\0${userAgent ?? ''}`));
}

const toInsertId = (identity: LineIdentity): string =>
  identity.repetition === 0 ? toIdText(identity.digest) : `${toIdText(identity.digest)}.${identity.repetition}`;

// Domain separation: ids of different kinds never collide, and no id is the plain SHA-256 of an
// address.
const digest = (domain: string, text: string): Buffer =>
  createHash('sha256').update(`service-import/access-log/${domain}\0${text}`).digest();

/** The first 132 bits in base64url: 22 characters. */
const toIdText = (bytes: Buffer): string => bytes.toString('base64url').slice(0, 22);

function cutToBytes(text: string, bytesMax: number): string {
  // A UTF-16 unit takes at most three bytes in UTF-8, so short texts need no counting.
  if (text.length * 3 <= bytesMax || Buffer.byteLength(text) <= bytesMax) return text;
  // A character that was cut decodes to U+FFFD, which may be longer than the removed bytes.
  return Buffer.from(text)
    .subarray(0, bytesMax)
    .toString('utf8')
    .replace(/\uFFFD+$/, '');
}
