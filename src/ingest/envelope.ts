// How accepted requests lie in Redis: the bytes as they came, and before them what the edge decided, so that a worker
// that runs the job twice writes identical rows. One value holds the envelopes of all requests that were committed together.

import type { Geography } from './enrich/geography.js';
import type { IngestOrigin } from './schema.js';

/** The edge's decisions on one request. Names are short as they are stored once per request. */
export interface EnvelopeHeader {
  /** Version of this layout. */
  readonly v: 1;
  /** Id of the request, for whoever looks at what was parked. Of the service's own events there is none. */
  readonly r?: string;
  /** Project. */
  readonly p: string;
  /** When the request was accepted, milliseconds: the time of every event that brought none of its own. */
  readonly t: number;
  /** Address after the project's policy; empty when there is none. */
  readonly ip: string;
  readonly ua: string;
  readonly geo: Geography;
  /** Origin of the batch. */
  readonly o: IngestOrigin;
  /** Events that were accepted. */
  readonly n: number;
  /** Positions of events that were skipped, ascending. */
  readonly skip?: readonly number[];
  /** Random parts of the insert ids the edge made, 16 characters each, in the order of the events that lack one. */
  readonly ids?: string;
  /** Times that differ from `t` for events without a time: position to milliseconds, remembered from an earlier try. */
  readonly first?: Readonly<Record<string, number>>;
  /** The body was written by the edge: events may carry `ip` (after policy), `user_agent` and `geo` of their own. */
  readonly own?: true;
}

export interface Envelope {
  readonly header: EnvelopeHeader;
  readonly body: Buffer;
}

const LENGTH_BYTES = 4;

export function encodeEnvelope(envelope: Envelope): Buffer {
  const header = Buffer.from(JSON.stringify(envelope.header), 'utf8');
  const lengths = Buffer.alloc(2 * LENGTH_BYTES);
  lengths.writeUInt32LE(header.length, 0);
  lengths.writeUInt32LE(envelope.body.length, LENGTH_BYTES);
  return Buffer.concat([lengths, header, envelope.body]);
}

/** Throws on bytes that are no sequence of whole envelopes. */
export function decodeEnvelopes(bytes: Buffer): Envelope[] {
  const envelopes: Envelope[] = [];
  let at = 0;
  while (at < bytes.length) {
    const bodyAt = at + 2 * LENGTH_BYTES + bytes.readUInt32LE(at);
    const end = bodyAt + bytes.readUInt32LE(at + LENGTH_BYTES);
    if (end > bytes.length) throw new Error(`a envelope ends at byte ${end} of ${bytes.length}`);
    const header = JSON.parse(bytes.toString('utf8', at + 2 * LENGTH_BYTES, bodyAt)) as EnvelopeHeader;
    if (header.v !== 1) throw new Error(`envelopes of version ${String(header.v)} are not known`);
    envelopes.push({ header, body: bytes.subarray(bodyAt, end) });
    at = end;
  }
  return envelopes;
}
