// Parses the body of a /track request into raw events: one object, or a batch. The API and the
// worker both parse the same bytes, so the result depends on nothing else.
import { PublicError } from '../platform/errors.js';
import { isObject } from '../platform/json-object.js';
import { jsonText } from '../platform/json-text.js';
import { VALUE_DEPTH_MAX } from './limits.js';

export type RawEvent = Readonly<Record<string, unknown>>;

export interface TrackBody {
  readonly events: readonly unknown[];
  /** The batch object, whose `origin` and `clientOriginated` are the defaults of its events. */
  readonly batch: RawEvent | undefined;
}

/** Throws bad_request when the bytes are not JSON, or are neither an event nor a batch. */
export function parseTrackBody(bytes: Buffer): TrackBody {
  const body = parseJson(bytes);
  if (!isObject(body)) throw notAnEvent();
  if (Array.isArray(body.events)) return { events: body.events, batch: body };
  // In an object with "event_type", "events" is an unknown field like any other.
  if (Object.hasOwn(body, 'event_type')) return { events: [body], batch: undefined };
  if (Object.hasOwn(body, 'events')) throw new PublicError('bad_request', '"events" must be an array');
  throw notAnEvent();
}

const notAnEvent = (): PublicError =>
  new PublicError('bad_request', 'the body must be an object with "event_type" or with an array "events"');

/** Throws bad_request when the bytes are not JSON. Texts are sanitized. */
export function parseJson(bytes: Buffer): unknown {
  const text = jsonText(bytes);
  const value = parsed(text);
  return hasDoubtfulEscape(text) ? sanitize(value, USED_LEVELS) : value;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new PublicError('bad_request', 'the body is not valid JSON', { cause });
  }
}

/**
 * Depth of property values, which is limited, plus the levels around them. Deeper values are never
 * used.
 */
const USED_LEVELS = VALUE_DEPTH_MAX + 10;

/**
 * NUL and lone surrogates can only result from a \u escape; unescaped, they are not valid JSON or
 * UTF-8.
 */
const hasDoubtfulEscape = (text: string): boolean => text.includes('\\u') && DOUBTFUL_ESCAPE.test(text);
const DOUBTFUL_ESCAPE = /\\u(?:0000|[dD])/;

/** Removes NUL and replaces lone surrogates by U+FFFD, in keys and in values. */
function sanitize(value: unknown, levels: number): unknown {
  if (typeof value === 'string') return sanitizeText(value);
  if (levels === 0) return value;
  if (Array.isArray(value)) return value.map((item) => sanitize(item, levels - 1));
  if (!isObject(value)) return value;
  // fromEntries defines properties, so a key named __proto__ stays a key.
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [sanitizeText(key), sanitize(item, levels - 1)]),
  );
}

const sanitizeText = (text: string): string => text.toWellFormed().replaceAll('\0', '');
