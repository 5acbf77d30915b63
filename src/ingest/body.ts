// From the bytes of a request to its raw events: one object, or a batch. Run at the edge and again by the worker on the
// same bytes, so it depends on nothing but them.
import { PublicError } from '../platform/errors.js';
import { VALUE_DEPTH_MAX } from './limits.js';

export type RawEvent = Readonly<Record<string, unknown>>;

export interface TrackBody {
  readonly events: readonly unknown[];
  /** The batch itself, whose `origin` and `clientOriginated` stand for events that say nothing of their own. */
  readonly batch: RawEvent | undefined;
}

/** Throws bad_request when the bytes are not JSON, or neither an event nor a batch. */
export function parseTrackBody(bytes: Buffer): TrackBody {
  const body = parseJson(bytes);
  if (!isObject(body)) throw notAnEvent();
  if (Array.isArray(body.events)) return { events: body.events, batch: body };
  // Beside a type, "events" is a field like any other that is not known.
  if (Object.hasOwn(body, 'event_type')) return { events: [body], batch: undefined };
  if (Object.hasOwn(body, 'events')) throw new PublicError('bad_request', '"events" must be an array');
  throw notAnEvent();
}

const notAnEvent = (): PublicError =>
  new PublicError('bad_request', 'the body must be an object with "event_type" or with an array "events"');

export const isObject = (value: unknown): value is RawEvent =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Throws bad_request when the bytes are not JSON. Texts are sanitized. */
export function parseJson(bytes: Buffer): unknown {
  const text = bytes.toString('utf8');
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

/** Values of properties, which have a limit, and what is around them. Nothing that lies deeper is ever used. */
const USED_LEVELS = VALUE_DEPTH_MAX + 10;

/** NUL and lone surrogates can only come out of JSON through a \u escape: raw, they are no valid JSON or UTF-8. */
const hasDoubtfulEscape = (text: string): boolean => text.includes('\\u') && DOUBTFUL_ESCAPE.test(text);
const DOUBTFUL_ESCAPE = /\\u(?:0000|[dD])/;

/** NUL is removed and a lone surrogate becomes U+FFFD, in keys as in values. */
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
