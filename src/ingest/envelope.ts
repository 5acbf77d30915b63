// Request envelope: one accepted request as stored in Redis, its bytes preceded by the API's
// decisions about it, so that a job that runs twice writes identical rows. A payload holds the
// envelopes of all requests of one group commit.
import { isObject } from '../platform/json-object.js';
import type { RawEvent } from './body.js';
import type { OwnClient } from './client-fields.js';
import type { Geography } from './enrich/geography.js';
import type { IngestOrigin } from './schema.js';

/**
 * The API's decisions on one request. Keys are short because they are stored with every request.
 */
export interface EnvelopeHeader {
  /** Version of this layout. */
  readonly v: 1;
  /** Request id, to identify requests in dead letters. Events of the service itself have none. */
  readonly r?: string;
  /** Project id. */
  readonly p: string;
  /**
   * Shard of the project when the request was accepted; missing with one shard. Workers look again
   * when they store.
   */
  readonly s?: number;
  /** When the request was accepted, in milliseconds; the default time of its events. */
  readonly t: number;
  /** Client address after the project's policy; empty when there is none. */
  readonly ip: string;
  readonly ua: string;
  readonly geo: Geography;
  /** Origin of the batch. */
  readonly o: IngestOrigin;
  /** Number of accepted events. */
  readonly n: number;
  /** Positions of skipped events, ascending. */
  readonly skip?: readonly number[];
  /**
   * Random parts of the generated insert ids, 16 characters each, in the order of the events
   * without one.
   */
  readonly ids?: string;
  /** First-seen times that differ from `t`, by position, in milliseconds. */
  readonly first?: Readonly<Record<string, number>>;
  /**
   * The API serialized the body: events may carry `ip` (after policy), `user_agent`, `agent` and
   * `geo` of their own.
   */
  readonly own?: true;
  /** Stored events of the same ids without a hostname are replaced (replace-hostless.ts). */
  readonly host?: true;
}

export interface Envelope {
  readonly header: EnvelopeHeader;
  readonly body: Buffer;
}

const LENGTH_BYTES = 4;

/** Copies each body once. */
export const encodeEnvelopes = (envelopes: readonly Envelope[]): Buffer => Buffer.concat(envelopes.flatMap(partsOf));

function partsOf(envelope: Envelope): [lengths: Buffer, header: Buffer, body: Buffer] {
  const header = Buffer.from(JSON.stringify(envelope.header), 'utf8');
  const lengths = Buffer.alloc(2 * LENGTH_BYTES);
  lengths.writeUInt32LE(header.length, 0);
  lengths.writeUInt32LE(envelope.body.length, LENGTH_BYTES);
  return [lengths, header, envelope.body];
}

/** Throws when the bytes are not a sequence of whole envelopes. */
export function decodeEnvelopes(bytes: Buffer): Envelope[] {
  const envelopes: Envelope[] = [];
  let at = 0;
  while (at < bytes.length) {
    const bodyAt = at + 2 * LENGTH_BYTES + bytes.readUInt32LE(at);
    const end = bodyAt + bytes.readUInt32LE(at + LENGTH_BYTES);
    if (end > bytes.length) throw new Error(`an envelope ends at byte ${end} of ${bytes.length}`);
    const header = JSON.parse(bytes.toString('utf8', at + 2 * LENGTH_BYTES, bodyAt)) as EnvelopeHeader;
    if (header.v !== 1) throw new Error(`envelopes of version ${String(header.v)} are not known`);
    envelopes.push({ header, body: bytes.subarray(bodyAt, end) });
    at = end;
  }
  return envelopes;
}

/**
 * The body of an envelope, written again with only the fields that the worker reads; the size and
 * depth of others must not matter. Keeps positions, because decisions refer to events by position.
 * A value that is not an object becomes null. `ownClientOf`: the client of an event that has its
 * own.
 */
export function serializeEvents(events: readonly unknown[], ownClientOf?: (event: RawEvent) => OwnClient): Buffer {
  const written = events.map((event) => (isObject(event) ? writtenEvent(event, ownClientOf?.(event)) : null));
  return Buffer.from(JSON.stringify({ events: written }), 'utf8');
}

/**
 * Objects of one shape in one step: JSON.stringify takes a third longer for those of a loop, and
 * copying one with four more fields twice as long.
 */
const writtenEvent = (event: RawEvent, client: OwnClient | undefined): RawEvent => ({
  event_type: unlessObject(event.event_type),
  user_id: unlessObject(event.user_id),
  device_id: unlessObject(event.device_id),
  session_id: unlessObject(event.session_id),
  insert_id: unlessObject(event.insert_id),
  time: unlessObject(event.time),
  library: unlessObject(event.library),
  origin: unlessObject(event.origin),
  clientOriginated: unlessObject(event.clientOriginated),
  event_properties: tryPropertiesOf(event.event_properties),
  user_properties: tryPropertiesOf(event.user_properties),
  ip: client?.ip,
  user_agent: client?.user_agent,
  agent: client?.agent,
  geo: client?.geo,
});

const unlessObject = (value: unknown): unknown => (typeof value === 'object' ? undefined : value);

const tryPropertiesOf = (value: unknown): RawEvent | undefined =>
  isObject(value) ? infinitiesAsText(value) : undefined;

/**
 * A number such as 1e999 parses to Infinity and is stored as that word; in JSON it would become
 * null.
 */
function infinitiesAsText(properties: RawEvent): RawEvent {
  if (!hasInfinity(properties)) return properties;
  // fromEntries defines properties, so a key named __proto__ stays a key.
  return Object.fromEntries(
    Object.entries(properties).map(([key, value]) => [key, isInfinite(value) ? String(value) : value]),
  );
}

function hasInfinity(properties: RawEvent): boolean {
  for (const key in properties) if (isInfinite(properties[key])) return true;
  return false;
}

const isInfinite = (value: unknown): boolean => typeof value === 'number' && !Number.isFinite(value);
