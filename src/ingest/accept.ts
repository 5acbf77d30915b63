// Builds the request envelope of a /track request: which events are accepted, their ids and times,
// the geography, and what is stored of the client's address. Pure, except for the random ids.
import type { IncomingHttpHeaders } from 'node:http';
import ipaddr from 'ipaddr.js';
import type { Credential, IpPolicy } from '../access/credentials.js';
import { assertNever } from '../platform/errors.js';
import { randomBase62 } from '../platform/ids.js';
import { isObject, type RawEvent, type TrackBody } from './body.js';
import { type GeographyLookup, readGeography } from './enrich/geography.js';
import { type Envelope, type EnvelopeHeader, serializeEvents } from './envelope.js';
import { tryParseEventTime } from './event-time.js';
import type { EventLimits } from './limits.js';
import type { RejectedEvent } from './rejected/events.js';
import { findSkipReason, toIdText, tryOriginOf } from './schema.js';

export const GENERATED_ID_LENGTH = 16;

export type TrackCredential = Pick<Credential, 'kind' | 'projectId' | 'ipPolicy'>;

export interface TrackRequest {
  readonly bytes: Buffer;
  readonly body: TrackBody;
  readonly credential: TrackCredential;
  readonly address: string | undefined;
  readonly headers: IncomingHttpHeaders;
  /** The same headers if a trusted proxy sent them, otherwise none. */
  readonly proxyHeaders: IncomingHttpHeaders;
  readonly id: string;
  /** When the request was received, milliseconds. */
  readonly now: number;
}

export interface AcceptedRequest {
  readonly envelope: Envelope;
  readonly rejected: readonly RejectedEvent[];
  /** Events whose client sent an insert id but no usable time: position to insert id. */
  readonly eventsWithoutTime: ReadonlyMap<number, string>;
}

export function acceptRequest(
  request: TrackRequest,
  deps: { limits: EventLimits; findGeography: GeographyLookup },
): AcceptedRequest {
  const { events, batch } = request.body;
  const skip: number[] = [];
  const rejected: RejectedEvent[] = [];
  const eventsWithoutTime = new Map<number, string>();
  let ids = '';
  events.forEach((event, position) => {
    const reason = findSkipReason(event, deps.limits);
    if (reason !== undefined || !isObject(event)) {
      skip.push(position);
      rejected.push({ reason: reason ?? 'not_an_object', event });
      return;
    }
    const insertId = toIdText(event.insert_id);
    if (insertId === '') ids += randomBase62(GENERATED_ID_LENGTH);
    else if (tryParseEventTime(event.time, request.now) === undefined) eventsWithoutTime.set(position, insertId);
  });

  const address = tryParseAddress(request.address);
  const header: EnvelopeHeader = {
    v: 1,
    r: request.id,
    p: request.credential.projectId,
    t: request.now,
    ip: applyIpPolicy(address, request.credential.ipPolicy),
    ua: request.headers['user-agent'] ?? '',
    geo: deps.findGeography(address, request.proxyHeaders),
    o: tryOriginOf(batch) ?? 'unknown',
    n: events.length - skip.length,
    ...(skip.length > 0 && { skip }),
    ...(ids !== '' && { ids }),
  };
  return { envelope: placeEvents(request, header, deps.findGeography), rejected, eventsWithoutTime };
}

/**
 * The body is stored unchanged. Only with a secret key may events override the client (`ip`,
 * `user_agent`, `geo`), as in an import; the body is then serialized again, so that no address is
 * stored that the policy forbids.
 */
function placeEvents(request: TrackRequest, header: EnvelopeHeader, findGeography: GeographyLookup): Envelope {
  const { events } = request.body;
  const overridesClient = request.credential.kind === 'secret' && events.some(hasClientOverride);
  if (!overridesClient) return { header, body: request.bytes };
  const skipped = new Set(header.skip);
  const resolved = events.map((event, position) =>
    isObject(event) && !skipped.has(position) ? resolveClientOverride(event, request.credential, findGeography) : null,
  );
  return { header: { ...header, own: true }, body: serializeEvents(resolved, { own: true }) };
}

const hasClientOverride = (event: unknown): boolean =>
  isObject(event) && (isTextOrNone(event.ip) || isTextOrNone(event.user_agent) || isObject(event.geo));

/** Null means none: an event that overrides the client never inherits values of the sender. */
const isTextOrNone = (value: unknown): value is string | null => typeof value === 'string' || value === null;

function resolveClientOverride(event: RawEvent, credential: TrackCredential, findGeography: GeographyLookup): RawEvent {
  const { ip, user_agent: userAgent, geo, ...rest } = event;
  const address = tryParseAddress(typeof ip === 'string' ? ip : undefined);
  const ownGeography = isObject(geo) ? readGeography(geo) : undefined;
  const geography = ownGeography ?? (isTextOrNone(ip) ? findGeography(address, {}) : undefined);
  return {
    ...rest,
    ...(isTextOrNone(ip) && { ip: applyIpPolicy(address, credential.ipPolicy) }),
    ...(geography !== undefined && { geo: geography }),
    ...(isTextOrNone(userAgent) && { user_agent: userAgent ?? '' }),
  };
}

const IPV6_KEPT_BITS = 48;

/**
 * Normalizes an address to its shortest form; IPv4 mapped into IPv6 becomes IPv4. Undefined if it
 * is not an address.
 */
export function tryParseAddress(text: string | undefined): string | undefined {
  // Nearly all addresses are normalized already; parsing them costs several times as much.
  if (text === undefined || ipaddr.IPv4.isValidFourPartDecimal(text)) return text;
  if (!ipaddr.isValid(text)) return undefined;
  return ipaddr.process(text).toString();
}

/**
 * Applies the policy to an address from `tryParseAddress`: the address, its network, or an empty
 * text.
 */
export function applyIpPolicy(address: string | undefined, policy: IpPolicy): string {
  if (address === undefined) return '';
  switch (policy) {
    case 'full':
      return address;
    case 'drop':
      return '';
    case 'anonymize':
      return networkOf(address);
    default:
      return assertNever(policy);
  }
}

/** Keeps the first three numbers of an IPv4 address. */
const networkOf = (address: string): string =>
  address.includes(':')
    ? ipaddr.IPv6.networkAddressFromCIDR(`${address}/${IPV6_KEPT_BITS}`).toString()
    : `${address.slice(0, address.lastIndexOf('.'))}.0`;
