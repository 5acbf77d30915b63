// Serializes the events of a request again, with only the fields that the worker reads. Other
// fields are ignored everywhere, so their size and depth must not matter here.
import { isObject, type RawEvent } from './body.js';

const PLAIN_FIELDS = [
  'event_type',
  'user_id',
  'device_id',
  'session_id',
  'insert_id',
  'time',
  'library',
  'origin',
  'clientOriginated',
] as const;
const PROPERTY_FIELDS = ['event_properties', 'user_properties'] as const;
/** Client overrides, set by the API. */
const OVERRIDE_FIELDS = ['ip', 'user_agent', 'geo'] as const;

/**
 * Keeps positions, because decisions refer to events by position. A value that is not an object
 * becomes null.
 */
export function serializeEvents(events: readonly unknown[], { own }: { own: boolean }): Buffer {
  const written = events.map((event) => (isObject(event) ? writtenEvent(event, own) : null));
  return Buffer.from(JSON.stringify({ events: written }), 'utf8');
}

function writtenEvent(event: RawEvent, own: boolean): RawEvent {
  const written: Record<string, unknown> = {};
  for (const field of PLAIN_FIELDS) {
    const value = event[field];
    if (typeof value !== 'object') written[field] = value;
  }
  for (const field of PROPERTY_FIELDS) {
    const properties = event[field];
    if (isObject(properties)) written[field] = infinitiesAsText(properties);
  }
  if (own) for (const field of OVERRIDE_FIELDS) written[field] = event[field];
  return written;
}

/**
 * A number such as 1e999 parses to Infinity and is stored as that word; in JSON it would become
 * null.
 */
function infinitiesAsText(properties: RawEvent): RawEvent {
  if (!Object.values(properties).some(isInfinite)) return properties;
  // fromEntries defines properties, so a key named __proto__ stays a key.
  return Object.fromEntries(
    Object.entries(properties).map(([key, value]) => [key, isInfinite(value) ? String(value) : value]),
  );
}

const isInfinite = (value: unknown): boolean => typeof value === 'number' && !Number.isFinite(value);
