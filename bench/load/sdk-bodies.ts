// Request bodies as SDKs of other products send them, for the events of event-template.ts: the
// same ids and properties, with what an SDK adds to each call.

export const PROTOCOL_NAMES = ['track', 'segment', 'posthog', 'amplitude'] as const;
export type ProtocolName = (typeof PROTOCOL_NAMES)[number];

/** Texts that the template overwrites before each request. */
export interface Places {
  readonly time: string;
  /** Milliseconds. */
  readonly timeMs: number;
}

/** An event of the load, with one id of a person. */
export interface LoadEvent {
  readonly event_type: string | undefined;
  readonly user_id?: string | undefined;
  readonly device_id?: string | undefined;
  readonly session_id: string;
  readonly time: string;
  readonly library: string;
  readonly insert_id: string;
  readonly event_properties: object;
}

interface Form {
  readonly path: string;
  toHeaders(key: string): readonly string[];
  toBody(events: readonly LoadEvent[], key: string, places: Places): unknown;
}

/** The time at the end of a session id. */
const startOf = (session: string): number => Number(session.slice(session.indexOf(':') + 1));

const keyHeader = (key: string): readonly string[] => [`X-API-Key: ${key}`];
const inBody = (): readonly string[] => [];

export const FORMS: Readonly<Record<ProtocolName, Form>> = {
  track: {
    path: '/track',
    toHeaders: keyHeader,
    toBody: (events) => (events.length === 1 ? events[0] : { events }),
  },
  segment: {
    path: '/v1/batch',
    toHeaders: (key) => [`Authorization: Basic ${Buffer.from(`${key}:`).toString('base64')}`],
    toBody: (events, key, { time }) => ({
      batch: events.map(({ event_type, user_id, device_id, session_id, insert_id, event_properties }) => ({
        timestamp: time,
        integrations: {},
        type: 'track',
        event: event_type,
        ...(user_id !== undefined && { userId: user_id }),
        ...(device_id !== undefined && { anonymousId: device_id }),
        properties: event_properties,
        context: { sessionId: startOf(session_id), library: { name: 'analytics.js', version: 'npm:next-1.81.0' } },
        messageId: insert_id,
      })),
      writeKey: key,
      sentAt: time,
    }),
  },
  posthog: {
    path: '/batch/',
    toHeaders: inBody,
    toBody: (events, key, { time }) => ({
      api_key: key,
      batch: events.map(({ event_type, user_id, device_id, session_id, insert_id, event_properties }) => ({
        event: event_type,
        distinct_id: user_id ?? device_id,
        uuid: insert_id,
        timestamp: time,
        properties: {
          ...event_properties,
          $session_id: session_id,
          $is_identified: user_id !== undefined,
          $lib: 'web',
          $lib_version: '1.298.0',
        },
      })),
      sent_at: time,
    }),
  },
  amplitude: {
    path: '/2/httpapi',
    toHeaders: inBody,
    toBody: (events, key, { timeMs }) => ({
      api_key: key,
      events: events.map(({ event_type, user_id, device_id, session_id, insert_id, event_properties }) => ({
        event_type,
        user_id,
        device_id,
        session_id: startOf(session_id),
        time: timeMs,
        insert_id,
        event_properties,
        library: 'amplitude-ts/2.11.0',
      })),
      options: { min_id_length: 1 },
    }),
  },
};
