// Validates identify calls: a call is accepted or rejected as a whole, and the error names the
// problem. An accepted call can always be applied.
import { parseJson, type RawEvent } from '../ingest/body.js';
import { tryParseEventTime } from '../ingest/event-time.js';
import { type EventLimits, ID_LENGTH_MAX, isWithinLength, VALUE_DEPTH_MAX } from '../ingest/limits.js';
import { findIgnoredFieldsOfCall } from '../ingest/rejected/ignored-fields.js';
import { isExact, isValueWithinBytes, isValueWithinDepth, textOf, toIdText } from '../ingest/schema.js';
import { PublicError } from '../platform/errors.js';
import { isObject } from '../platform/json-object.js';
import { PROFILE_BYTES_MAX, propertyBytes } from './profile-properties.js';
import type { PropertyOps, PropertyValue } from './property-ops.js';

export interface IdentifyCall {
  readonly userId: string;
  readonly deviceId: string | undefined;
  readonly ops: PropertyOps;
}

/** A call of an import. */
export interface TimedCall extends IdentifyCall {
  /** Time of its record, milliseconds. */
  readonly timeMs: number;
}

const REFUSAL_REASONS = ['body', 'time', 'user_id', 'device_id', 'properties', 'limit'] as const;
export type RefusalReason = (typeof REFUSAL_REASONS)[number];

export class IdentifyRefusal extends PublicError {
  readonly reason: RefusalReason;

  constructor(reason: RefusalReason, message: string) {
    super('bad_request', message);
    this.reason = reason;
  }
}

/**
 * Placeholders that programs send when they have no id. Accepting them would merge unrelated
 * people.
 */
const WORDS_FOR_NOTHING: ReadonlySet<string> = new Set(['null', 'undefined', 'NaN', '[object Object]']);
const OPERATORS = ['$set', '$set_once', '$add', '$unset'] as const;

export interface ParsedCall {
  readonly call: IdentifyCall;
  /** Unknown fields. */
  readonly ignoredFields: readonly string[];
}

/** Throws IdentifyRefusal. */
export function parseIdentifyBody(bytes: Buffer, limits: EventLimits): ParsedCall {
  const body = parseObject(bytes);
  return { call: readIdentifyCall(body, limits), ignoredFields: findIgnoredFieldsOfCall(undefined, body) };
}

export interface ParsedBatch {
  readonly calls: readonly TimedCall[];
  /** Unknown fields of the batch and of the first call. */
  readonly ignoredFields: readonly string[];
}

/** Calls of one request of POST /identify/batch. */
const IDENTIFY_BATCH_MAX = 1000;

/**
 * Parses POST /identify/batch. Throws IdentifyRefusal, which names the first call that is not
 * valid. `nowMs`: times more than a day later are refused.
 */
export function parseIdentifyBatch(bytes: Buffer, limits: EventLimits, nowMs: number): ParsedBatch {
  const batch = parseObject(bytes, 'the body must be an object with "calls"');
  const { calls } = batch;
  if (!Array.isArray(calls)) throw new IdentifyRefusal('body', '"calls" must be an array');
  if (calls.length > IDENTIFY_BATCH_MAX) {
    throw new IdentifyRefusal('limit', `the batch has ${calls.length} calls; the limit is ${IDENTIFY_BATCH_MAX}`);
  }
  const read = calls.map((call: unknown, index) => {
    try {
      return readTimedCall(call, limits, nowMs);
    } catch (error) {
      if (error instanceof IdentifyRefusal)
        throw new IdentifyRefusal(error.reason, `calls[${index}]: ${error.message}`);
      throw error;
    }
  });
  return { calls: read, ignoredFields: findIgnoredFieldsOfCall(batch, calls[0]) };
}

/** The same for one parsed call. Throws IdentifyRefusal. */
export function readTimedCall(body: unknown, limits: EventLimits, nowMs: number): TimedCall {
  if (!isObject(body)) throw new IdentifyRefusal('body', 'a call must be an object with "user_id"');
  const call = readIdentifyCall(body, limits);
  if (call.ops.setOnce !== undefined || call.ops.add !== undefined || call.ops.unset !== undefined) {
    throw new IdentifyRefusal('properties', 'calls of a batch can only set properties: user_properties or $set');
  }
  const timeMs = tryParseEventTime(body.time, nowMs);
  if (timeMs !== undefined) return { ...call, timeMs };
  throw new IdentifyRefusal('time', '"time" is required: from 2000 on, at most a day ahead');
}

/** The same for a parsed body. Throws IdentifyRefusal. */
export function readIdentifyCall(body: RawEvent, limits: EventLimits): IdentifyCall {
  const userId = readId(body, 'user_id');
  if (userId === undefined) throw new IdentifyRefusal('user_id', '"user_id" is required and must not be empty');
  return { userId, deviceId: readId(body, 'device_id'), ops: readOps(body, limits) };
}

function parseObject(bytes: Buffer, otherwise = 'the body must be an object with "user_id"'): RawEvent {
  try {
    const body = parseJson(bytes);
    if (isObject(body)) return body;
  } catch (error) {
    if (error instanceof PublicError) throw new IdentifyRefusal('body', error.message);
    throw error;
  }
  throw new IdentifyRefusal('body', otherwise);
}

function readId(body: RawEvent, field: 'user_id' | 'device_id'): string | undefined {
  const value = body[field];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string' && typeof value !== 'number') {
    throw new IdentifyRefusal(field, `"${field}" must be a string`);
  }
  if (typeof value === 'number' && !isExact(value)) {
    throw new IdentifyRefusal(field, `"${field}" is a number too large to be read exactly; send it as text`);
  }
  const id = toIdText(value);
  if (WORDS_FOR_NOTHING.has(id)) throw new IdentifyRefusal(field, `"${field}" is "${id}", which is not an id`);
  if (!isWithinLength(id, ID_LENGTH_MAX)) {
    throw new IdentifyRefusal('limit', `"${field}" is longer than ${ID_LENGTH_MAX} characters`);
  }
  return id === '' ? undefined : id;
}

function readOps(body: RawEvent, limits: EventLimits): PropertyOps {
  const operators = readMap(body.user_property_ops, 'user_property_ops');
  for (const name in operators) {
    if (!OPERATORS.some((known) => known === name)) {
      throw new IdentifyRefusal(
        'properties',
        `unknown operator "${shown(name)}"; the operators are ${OPERATORS.join(', ')}`,
      );
    }
  }
  const properties = readMap(body.user_properties, 'user_properties');
  const set = readMap(operators.$set, '$set');
  const setOnce = readMap(operators.$set_once, '$set_once');
  const add = readIncrements(operators.$add);
  const unset = readKeys(operators.$unset);

  const keys = [properties, set, setOnce, add].flatMap(Object.keys).concat(unset);
  if (keys.length > limits.userPropertiesMax) {
    throw new IdentifyRefusal(
      'limit',
      `the call has ${keys.length} properties; the limit is ${limits.userPropertiesMax}`,
    );
  }
  for (const key of keys) requireKey(key, limits);

  const setEntries = [...toEntries(properties, limits), ...toEntries(set, limits)];
  const setOnceEntries = toEntries(setOnce, limits).flatMap(([key, value]) =>
    value === null ? [] : [[key, value] as const],
  );
  const bytes = [...setEntries, ...setOnceEntries].reduce(
    (sum, [key, value]) => sum + (value === null ? 0 : propertyBytes(key, value)),
    0,
  );
  if (bytes > PROFILE_BYTES_MAX) {
    throw new IdentifyRefusal(
      'limit',
      `the properties of the call have ${bytes} bytes; a profile holds ${PROFILE_BYTES_MAX}`,
    );
  }
  return {
    // Later entries win: $set is applied after user_properties.
    ...(setEntries.length > 0 && { set: Object.fromEntries(setEntries) }),
    ...(setOnceEntries.length > 0 && { setOnce: Object.fromEntries(setOnceEntries) }),
    ...(Object.keys(add).length > 0 && { add }),
    ...(unset.length > 0 && { unset }),
  };
}

function readMap(value: unknown, name: string): RawEvent {
  if (value === undefined || value === null) return {};
  if (!isObject(value)) throw new IdentifyRefusal('properties', `"${name}" must be an object`);
  return value;
}

function readIncrements(value: unknown): Readonly<Record<string, number>> {
  const increments = readMap(value, '$add');
  for (const key in increments) {
    if (typeof increments[key] !== 'number' || !Number.isFinite(increments[key])) {
      throw new IdentifyRefusal('properties', `"$add" of "${shown(key)}" must be a number`);
    }
  }
  return increments as Readonly<Record<string, number>>;
}

function readKeys(value: unknown): readonly string[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value) || !value.every((key) => typeof key === 'string')) {
    throw new IdentifyRefusal('properties', '"$unset" must be an array of strings');
  }
  return value;
}

function requireKey(key: string, limits: EventLimits): void {
  if (key === '') throw new IdentifyRefusal('limit', 'a property key is empty');
  if (!isWithinLength(key, limits.keyLengthMax)) {
    throw new IdentifyRefusal(
      'limit',
      `the property key "${shown(key)}" is longer than ${limits.keyLengthMax} characters`,
    );
  }
}

function toEntries(properties: RawEvent, limits: EventLimits): [string, PropertyValue | null][] {
  return Object.entries(properties).map(([key, value]) => {
    if (!isValueWithinDepth(value)) {
      throw new IdentifyRefusal(
        'limit',
        `the value of "${shown(key)}" is nested more than ${VALUE_DEPTH_MAX} levels deep`,
      );
    }
    if (!isValueWithinBytes(value, limits.valueBytesMax)) {
      throw new IdentifyRefusal('limit', `the value of "${shown(key)}" is larger than ${limits.valueBytesMax} bytes`);
    }
    return [key, toPropertyValue(value)];
  });
}

/**
 * Objects and arrays become JSON text; a number outside the range of a double becomes the text
 * Infinity.
 */
function toPropertyValue(value: unknown): PropertyValue | null {
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  return textOf(value) ?? String(value);
}

const SHOWN_LENGTH = 64;

/** Quotes and shortens a client's key for an error message. */
const shown = (key: string): string => (key.length > SHOWN_LENGTH ? `${key.slice(0, SHOWN_LENGTH)}…` : key);
