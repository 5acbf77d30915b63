// Turns a parsed line of an access log into the page_view event that /track takes. Pure and repeatable: the same file
// gives the same ids, so an import can be run again.
import { createHash } from 'node:crypto';
import { isIP } from 'node:net';
import type { AccessLogLine } from './access-log-line.js';

/** The body of an event on the wire. `ip` and `user_agent` are taken from senders with a secret key only. */
export interface PageViewEvent {
  readonly event_type: 'page_view';
  readonly time: string;
  readonly insert_id: string;
  readonly device_id?: string;
  readonly event_properties: Readonly<Record<string, string | number>>;
  /** Empty where the log has none: absent would mean the address and user agent of the import itself. */
  readonly ip: string;
  readonly user_agent: string;
  readonly library: string;
  readonly origin: 'server';
}

export interface LineIdentity {
  readonly digest: Buffer;
  /** How many identical lines came before this one. */
  readonly repetition: number;
}

export interface PageViewOptions {
  /** Such as `https://example.com`: goes before each path. Without it `url` is what the log has, the path. */
  readonly site: string | undefined;
  /** Names the sender, with its version. */
  readonly library: string;
}

/** The service refuses an event with a longer value; a cut address is worth more than a missing event. */
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
    // What came instead of a request is kept, to be looked at: it is usually a scanner.
    request: request?.kind === 'malformed' ? request.text : undefined,
    bytes: line.bytes,
  };
  const defined = Object.entries(properties).flatMap(([key, value]): [string, string | number][] =>
    value === undefined ? [] : [[key, typeof value === 'string' ? cutToBytes(value, PROPERTY_BYTES_MAX) : value]],
  );
  return Object.fromEntries(defined);
}

/** Undefined for targets that name no page: `*` of OPTIONS, `host:port` of CONNECT. */
function tryToUrl(target: string, site: string | undefined): string | undefined {
  if (/^https?:\/\//i.test(target)) return target;
  // Joined as text: resolved as a reference, `//admin` would turn into a host.
  return target.startsWith('/') ? `${site ?? ''}${target}` : undefined;
}

/** Undefined without an address: all visitors a log does not tell apart would become one device. */
function toDeviceId({ address, userAgent }: AccessLogLine): string | undefined {
  return address === undefined ? undefined : toIdText(digest('device', `${address}\0${userAgent ?? ''}`));
}

const toInsertId = (identity: LineIdentity): string =>
  identity.repetition === 0 ? toIdText(identity.digest) : `${toIdText(identity.digest)}.${identity.repetition}`;

// The domain keeps ids of one kind from ever equalling those of another, or a plain SHA-256 of an address.
const digest = (domain: string, text: string): Buffer =>
  createHash('sha256').update(`service-import/access-log/${domain}\0${text}`).digest();

/** The first 132 bits in base64url: 22 characters. */
const toIdText = (bytes: Buffer): string => bytes.toString('base64url').slice(0, 22);

function cutToBytes(text: string, bytesMax: number): string {
  // UTF-8 takes at most three bytes for a unit of UTF-16, so short text needs no counting.
  if (text.length * 3 <= bytesMax || Buffer.byteLength(text) <= bytesMax) return text;
  // A character cut in two decodes to U+FFFD, which may be longer than what was cut off.
  return Buffer.from(text)
    .subarray(0, bytesMax)
    .toString('utf8')
    .replace(/\uFFFD+$/, '');
}
