// Reads an envelope back into its events, with all defaults filled in. It repeats the decisions of
// the API and uses no clock, limits or random numbers, so a job that runs twice yields equal
// events.
import { isAscii } from 'node:buffer';
import { isObject } from '../../platform/json-object.js';
import { GENERATED_ID_LENGTH } from '../accept.js';
import { parseTrackBody, type RawEvent } from '../body.js';
import type { Agent } from '../enrich/agent.js';
import type { Geography } from '../enrich/geography.js';
import type { Envelope, EnvelopeHeader } from '../envelope.js';
import { tryParseEventTime } from '../event-time.js';
import { type IngestOrigin, toIdText, toLibraryText, tryOriginOf } from '../schema.js';
import { MonthSet } from './months.js';

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
  readonly agent?: Agent | undefined;
  readonly geography: Geography;
  readonly receivedAt: number;
  readonly eventProperties: RawEvent;
  readonly userProperties: RawEvent;
}

const NONE_SKIPPED: ReadonlySet<number> = new Set();
const NO_PROPERTIES: RawEvent = Object.freeze({});

/** An envelope with its body parsed: many times the size of its bytes. */
export interface ParsedEnvelope {
  readonly header: EnvelopeHeader;
  readonly events: readonly unknown[];
  /** Whether every text of the events is ASCII. */
  readonly isAscii: boolean;
}

export const parseEnvelope = ({ header, body }: Envelope): ParsedEnvelope => ({
  header,
  events: parseTrackBody(body).events,
  isAscii: isPlainAscii(body),
});

/** JSON whose decoded texts are all ASCII: its bytes are ASCII, and it contains no \u escape. */
const isPlainAscii = (body: Buffer): boolean => isAscii(body) && !body.includes('\\u');

/** Calls `visit` for every accepted event, in the order of the request, with its position there. */
export const replayEvents = (
  { header, body }: Envelope,
  visit: (event: AcceptedEvent, position: number) => void,
): void => replayParsed({ header, events: parseTrackBody(body).events }, visit);

/** The months of all accepted events. */
export function monthsOf(envelopes: readonly ParsedEnvelope[]): MonthSet {
  const months = new MonthSet();
  for (const { header, events } of envelopes) {
    const skipped = skippedOf(header);
    events.forEach((event, position) => {
      if (!skipped.has(position) && isObject(event)) months.add(timeOf(event, position, header));
    });
  }
  return months;
}

const skippedOf = ({ skip }: EnvelopeHeader): ReadonlySet<number> =>
  skip === undefined ? NONE_SKIPPED : new Set(skip);

const timeOf = (event: RawEvent, position: number, { t, first }: EnvelopeHeader): number =>
  tryParseEventTime(event.time, t) ?? first?.[position] ?? t;

/** As `replayEvents`. An event is built when it is visited: one that is not kept costs little. */
export function replayParsed(
  { header, events }: Pick<ParsedEnvelope, 'header' | 'events'>,
  visit: (event: AcceptedEvent, position: number) => void,
): void {
  const skipped = skippedOf(header);
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
        time: timeOf(event, position, header),
        insertId,
        userId: toIdText(event.user_id),
        deviceId: toIdText(event.device_id),
        sessionId: toIdText(event.session_id),
        library: toLibraryText(event.library),
        origin: tryOriginOf(event) ?? header.o,
        ip: typeof override?.ip === 'string' ? override.ip : header.ip,
        userAgent: typeof override?.user_agent === 'string' ? override.user_agent : header.ua,
        agent: isObject(override?.agent) ? (override.agent as Agent) : undefined,
        geography: isObject(override?.geo) ? (override.geo as Geography) : header.geo,
        receivedAt: header.t,
        eventProperties: isObject(event.event_properties) ? event.event_properties : NO_PROPERTIES,
        userProperties: isObject(event.user_properties) ? event.user_properties : NO_PROPERTIES,
      },
      position,
    );
  });
}
