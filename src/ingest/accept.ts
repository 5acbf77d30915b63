// Builds the request envelope of a /track request: which events are accepted or dropped by a rule,
// their ids and times, the geography, and what is stored of the client's address. Pure, except for
// the random ids.
import type { IncomingHttpHeaders } from 'node:http';
import type { Credential } from '../access/credentials.js';
import { randomBase62 } from '../platform/ids.js';
import { isObject } from '../platform/json-object.js';
import type { RawEvent, TrackBody } from './body.js';
import {
  applyIpPolicy,
  hasClientOverride,
  type OwnClient,
  resolveOwnClient,
  tryParseAddress,
} from './client-fields.js';
import type { CompiledRules } from './drop/compiled-rules.js';
import type { Dropped } from './drop/rules.js';
import type { GeographyLookup } from './enrich/geography.js';
import { type Envelope, type EnvelopeHeader, serializeEvents } from './envelope.js';
import { tryParseEventTime } from './event-time.js';
import type { EventLimits } from './limits.js';
import type { RejectedEvent } from './rejected/events.js';
import { findIgnoredFields } from './rejected/ignored-fields.js';
import { findSkipReason, toIdText, tryOriginOf } from './schema.js';

export const GENERATED_ID_LENGTH = 16;

export type TrackCredential = Pick<Credential, 'kind' | 'projectId' | 'ipPolicy' | 'rules' | 'shard'>;

export interface TrackRequest {
  /** The body as received; undefined when its events are serialized from `body`. */
  readonly bytes: Buffer | undefined;
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
  /** Unknown fields of the batch and of the first event. */
  readonly ignoredFields: readonly string[];
  /** Valid events that a rule of the project dropped. */
  readonly dropped: Dropped;
  /** Events whose client sent an insert id but no usable time: position to insert id. */
  readonly eventsWithoutTime: ReadonlyMap<number, string>;
}

/** What an event has from its request. */
type Client = Pick<EnvelopeHeader, 'ip' | 'ua' | 'geo' | 'o'>;

const NONE_DROPPED: Dropped = new Map();

/** `rules` are those of the project; undefined without any. */
export function acceptRequest(
  request: TrackRequest,
  deps: { limits: EventLimits; findGeography: GeographyLookup; rules?: CompiledRules | undefined },
): AcceptedRequest {
  const { events, batch } = request.body;
  const skip: number[] = [];
  const rejected: RejectedEvent[] = [];
  const eventsWithoutTime = new Map<number, string>();
  let ids = '';
  const address = tryParseAddress(request.address);
  const client: Client = {
    ip: applyIpPolicy(address, request.credential.ipPolicy),
    ua: request.headers['user-agent'] ?? '',
    geo: deps.findGeography(address, request.proxyHeaders),
    o: tryOriginOf(batch) ?? 'unknown',
  };
  const drops = deps.rules && createDrops(request, { ...client, address }, { ...deps, rules: deps.rules });
  events.forEach((event, position) => {
    const reason = findSkipReason(event, deps.limits);
    if (reason !== undefined || !isObject(event)) {
      skip.push(position);
      rejected.push({ reason: reason ?? 'not_an_object', event });
      return;
    }
    if (drops?.take(event) === true) {
      skip.push(position);
      return;
    }
    const insertId = toIdText(event.insert_id);
    if (insertId === '') ids += randomBase62(GENERATED_ID_LENGTH);
    else if (tryParseEventTime(event.time, request.now) === undefined) eventsWithoutTime.set(position, insertId);
  });

  const header: EnvelopeHeader = {
    v: 1,
    r: request.id,
    p: request.credential.projectId,
    ...(request.credential.shard !== undefined && { s: request.credential.shard }),
    t: request.now,
    ...client,
    n: events.length - skip.length,
    ...(skip.length > 0 && { skip }),
    ...(ids !== '' && { ids }),
  };
  const dropped = drops?.dropped ?? NONE_DROPPED;
  const ignoredFields = findIgnoredFields(batch, events[0]);
  const envelope = placeEvents(request, header, deps.findGeography);
  return { envelope, rejected, ignoredFields, dropped, eventsWithoutTime };
}

/** Asks the rules about events, and counts those that they drop. */
function createDrops(
  { credential, now }: TrackRequest,
  { address, ip, ua, geo, o }: Client & { readonly address: string | undefined },
  { rules, findGeography }: { rules: CompiledRules; findGeography: GeographyLookup },
) {
  const dropped = new Map<string, number>();
  const mayOverride = credential.kind === 'secret';
  const incoming = {
    ...{ now, address, ip, userAgent: ua, geography: geo, origin: o },
    isOfVisitor: credential.kind === 'public',
    resolveOwn: (event: RawEvent): OwnClient | undefined =>
      mayOverride && hasClientOverride(event) ? resolveOwnClient(event, credential, findGeography) : undefined,
  };
  return {
    dropped,
    take(event: RawEvent): boolean {
      const key = rules.find(incoming, event);
      if (key !== undefined) dropped.set(key, 1 + (dropped.get(key) ?? 0));
      return key !== undefined;
    },
  };
}

/**
 * A body of /track is stored unchanged. Only with a secret key may events override the client
 * (`ip`, `user_agent`, `agent`, `geo`), as in an import; the body is then serialized again, so that
 * no address is stored that the policy forbids.
 */
function placeEvents(request: TrackRequest, header: EnvelopeHeader, findGeography: GeographyLookup): Envelope {
  const { bytes, credential } = request;
  const { events } = request.body;
  const overridesClient = credential.kind === 'secret' && events.some(hasClientOverride);
  if (!overridesClient && bytes !== undefined) return { header, body: bytes };
  const skipped = new Set(header.skip);
  const kept = events.map((event, position) => (skipped.has(position) ? null : event));
  if (!overridesClient) return { header, body: serializeEvents(kept) };
  const body = serializeEvents(kept, (event) => resolveOwnClient(event, credential, findGeography));
  return { header: { ...header, own: true }, body };
}
