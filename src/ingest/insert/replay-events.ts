// Reads an envelope back into its events, with all defaults filled in. It repeats the decisions of
// the API and uses no clock, limits or random numbers, so a job that runs twice yields equal
// events.
import { GENERATED_ID_LENGTH } from '../accept.js';
import { isObject, parseTrackBody, type RawEvent } from '../body.js';
import type { Agent } from '../enrich/agent.js';
import type { Geography } from '../enrich/geography.js';
import type { Envelope } from '../envelope.js';
import { tryParseEventTime } from '../event-time.js';
import { type IngestOrigin, toIdText, tryOriginOf } from '../schema.js';

export interface AcceptedEvent {
  readonly projectId: string;
  readonly eventType: string;
  /** Milliseconds since the epoch. */
  readonly time: number;
  readonly insertId: string;
  readonly userId: string;
  readonly deviceId: string;
  readonly sessionId: string;
  readonly library: string;
  readonly origin: IngestOrigin;
  readonly ip: string;
  readonly userAgent: string;
  /** Parts of the client that the event has of its own. */
  readonly agent?: Agent;
  readonly geography: Geography;
  readonly receivedAt: number;
  readonly eventProperties: RawEvent;
  readonly userProperties: RawEvent;
}

const LIBRARY_LENGTH_MAX = 256;
const NONE_SKIPPED: ReadonlySet<number> = new Set();
const NO_PROPERTIES: RawEvent = Object.freeze({});

/** Calls `visit` for every accepted event, in the order of the request, with its position there. */
export function replayEvents(
  { header, body }: Envelope,
  visit: (event: AcceptedEvent, position: number) => void,
): void {
  const { events } = parseTrackBody(body);
  const skipped = header.skip === undefined ? NONE_SKIPPED : new Set(header.skip);
  let generated = 0;
  events.forEach((event, position) => {
    if (skipped.has(position) || !isObject(event)) return;
    let insertId = toIdText(event.insert_id);
    if (insertId === '') {
      insertId = `evt_${(header.ids ?? '').slice(generated, generated + GENERATED_ID_LENGTH)}`;
      generated += GENERATED_ID_LENGTH;
    }
    const override = header.own === true ? event : undefined;
    visit(
      {
        projectId: header.p,
        eventType: String(event.event_type),
        time: tryParseEventTime(event.time, header.t) ?? header.first?.[position] ?? header.t,
        insertId,
        userId: toIdText(event.user_id),
        deviceId: toIdText(event.device_id),
        sessionId: toIdText(event.session_id),
        library: typeof event.library === 'string' ? event.library.slice(0, LIBRARY_LENGTH_MAX) : '',
        origin: tryOriginOf(event) ?? header.o,
        ip: typeof override?.ip === 'string' ? override.ip : header.ip,
        userAgent: typeof override?.user_agent === 'string' ? override.user_agent : header.ua,
        ...(isObject(override?.agent) && { agent: override.agent as Agent }),
        geography: isObject(override?.geo) ? (override.geo as Geography) : header.geo,
        receivedAt: header.t,
        eventProperties: isObject(event.event_properties) ? event.event_properties : NO_PROPERTIES,
        userProperties: isObject(event.user_properties) ? event.user_properties : NO_PROPERTIES,
      },
      position,
    );
  });
}
