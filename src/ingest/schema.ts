// Validates each event of a batch: accepted, or skipped with a reason. An invalid event never fails
// the request.
import { isObject } from '../platform/json-object.js';
import type { RawEvent } from './body.js';
import {
  EVENT_TYPE_LENGTH_MAX,
  type EventLimits,
  ID_LENGTH_MAX,
  isWithinBytes,
  isWithinLength,
  VALUE_DEPTH_MAX,
} from './limits.js';
import type { SkipReason } from './skip-reasons.js';

const ID_FIELDS = ['user_id', 'device_id', 'session_id', 'insert_id'] as const;

/** Undefined for an accepted event. */
export function findSkipReason(event: unknown, limits: EventLimits): SkipReason | undefined {
  if (!isObject(event)) return 'not_an_object';
  const type = event.event_type;
  if (typeof type !== 'string' || type === '') return 'event_type_missing';
  if (!isWithinLength(type, EVENT_TYPE_LENGTH_MAX)) return 'event_type_too_long';
  for (const field of ID_FIELDS) {
    const reason = findIdProblem(event[field]);
    if (reason !== undefined) return reason;
  }
  return (
    findPropertiesProblem(event.event_properties, limits.propertiesMax, limits) ??
    findPropertiesProblem(event.user_properties, limits.userPropertiesMax, limits)
  );
}

function findIdProblem(value: unknown): SkipReason | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'number') return isExact(value) ? undefined : 'id_not_exact';
  if (typeof value !== 'string') return 'id_not_a_string';
  return isWithinLength(value, ID_LENGTH_MAX) ? undefined : 'id_too_long';
}

function findPropertiesProblem(properties: unknown, countMax: number, limits: EventLimits): SkipReason | undefined {
  if (properties === undefined || properties === null) return undefined;
  if (!isObject(properties)) return 'properties_not_an_object';
  let count = 0;
  for (const key in properties) {
    count += 1;
    if (count > countMax) return 'too_many_properties';
    if (key === '' || !isWithinLength(key, limits.keyLengthMax)) return 'property_key_length';
    if (!isValueWithinDepth(properties[key])) return 'property_value_too_deep';
    if (!isValueWithinBytes(properties[key], limits.valueBytesMax)) return 'property_value_too_long';
  }
  return undefined;
}

/**
 * Whether a value is shallow enough for recursion; check it before `isValueWithinBytes` and
 * `textOf`.
 */
export function isValueWithinDepth(value: unknown, levels = VALUE_DEPTH_MAX): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return levels > 0 && Object.values(value).every((item) => isValueWithinDepth(item, levels - 1));
}

/** Whether the text of a property value is within the limit; objects and arrays count as JSON. */
export function isValueWithinBytes(value: unknown, max: number): boolean {
  if (typeof value === 'number' || typeof value === 'boolean') return true;
  const text = textOf(value);
  return text === undefined || isWithinBytes(text, max);
}

/** The text of a property value that is stored as text. Objects and arrays become JSON. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : undefined;
}

/** JSON numbers above 2^53 are rounded: such an id could become the id of another person. */
export const isExact = (id: number): boolean => Math.abs(id) <= Number.MAX_SAFE_INTEGER;

/** The text of an id, empty when absent. A number becomes its text. */
export function toIdText(value: unknown): string {
  if (typeof value === 'string') return value;
  return typeof value === 'number' ? String(value) : '';
}

const LIBRARY_LENGTH_MAX = 256;

/** The stored text of `library`, empty when absent. */
export const toLibraryText = (value: unknown): string =>
  typeof value === 'string' ? value.slice(0, LIBRARY_LENGTH_MAX) : '';

export type IngestOrigin = 'client' | 'server' | 'unknown';

/** The declared origin of an event or a batch; undefined when there is none. */
export function tryOriginOf(source: RawEvent | undefined): Exclude<IngestOrigin, 'unknown'> | undefined {
  if (source === undefined) return undefined;
  if (source.origin === 'server' || source.origin === 'client') return source.origin;
  return source.clientOriginated === true ? 'client' : undefined;
}
