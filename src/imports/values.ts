// Reads untyped values of exported records: texts, numbers, times and properties.
import { type JsonObject, objectOf, textOf } from '../platform/json-object.js';
import { setOwnProperty } from '../platform/own-property.js';
import type { Id, Properties } from './source.js';

/** The object, also when it is stored as its JSON text; empty for anything else. */
export const objectOrJson = (value: unknown): JsonObject => objectOf(tryParseJson(value) ?? value);

/** The value of a JSON text; undefined for anything else. */
export function tryParseJson(value: unknown): unknown {
  // Parsing an empty text throws, which costs more than the rest of a record.
  if (typeof value !== 'string' || value === '') return undefined;
  try {
    return JSON.parse(value);
  } catch {
    return undefined;
  }
}

/** The entry of a table by a name of a record, which may be `constructor` or `__proto__`. */
export const ownOf = <T>(table: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined;

/** Undefined for empty text, null and values that are no id. */
export function idOf(value: unknown): Id | undefined {
  if (typeof value !== 'number') return textOf(value);
  return Number.isSafeInteger(value) ? String(value) : value;
}

/** The number of a number or of its text. */
export function numberOf(value: unknown): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

const OFFSET = /(?:[Zz]| ?UTC|[+-]\d{2}(?::?\d{2})?)$/;
const DATE_AND_TIME = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}(?::\d{2})?)(\.\d+)?/;

/**
 * Epoch milliseconds of ISO 8601 text or of `2026-01-31 10:00:00.123456`, in UTC without an offset.
 * Fractions are truncated to milliseconds.
 */
export function timeOf(value: unknown): number | undefined {
  if (typeof value !== 'string') return undefined;
  const text = value.trim();
  const match = DATE_AND_TIME.exec(text);
  if (match === null) return undefined;
  const [whole, date, clock, fraction = ''] = match;
  const rest = text.slice(whole.length);
  const offset = rest === '' || /^ ?(?:UTC|[Zz])$/.test(rest) ? 'Z' : rest.trim();
  if (offset !== 'Z' && !OFFSET.test(offset)) return undefined;
  const normalized = /^[+-]\d{2}$/.test(offset) ? `${offset}:00` : offset.replace(/^([+-]\d{2})(\d{2})$/, '$1:$2');
  const timeMs = Date.parse(`${date}T${clock}${fraction.slice(0, 4)}${normalized}`);
  return Number.isNaN(timeMs) ? undefined : timeMs;
}

/** Maximum value length of the service in bytes; an event with a longer value would be refused. */
const VALUE_BYTES_MAX = 8192;

/** The value as it is sent: texts above the limit of the service are cut. */
export function toValue(value: unknown): unknown {
  if (typeof value === 'string') return cutToBytes(value, VALUE_BYTES_MAX);
  if (typeof value !== 'object' || value === null) return value;
  const text = JSON.stringify(value);
  return text.length * 3 <= VALUE_BYTES_MAX ? value : cutToBytes(text, VALUE_BYTES_MAX);
}

/** New names of properties; null leaves one out. */
export type Renames = Readonly<Record<string, string | null>>;

/**
 * Properties of a record under the names of this service. A value under its own name wins over a
 * renamed one. Absent and empty renamed values are left out. They are added to `properties`, whose
 * values they replace: joining two objects by a spread takes longer than making both.
 */
export function toProperties(record: JsonObject, renames: Renames = {}, properties: Properties = {}): Properties {
  for (const key in record) {
    const value = record[key];
    if (value === undefined || key === '') continue;
    const name = Object.hasOwn(renames, key) ? renames[key] : key;
    if (name === null || name === undefined) continue;
    if (name === key) setOwnProperty(properties, key, toValue(value));
    else if (value !== null && value !== '' && !Object.hasOwn(record, name)) properties[name] = toValue(value);
  }
  return properties;
}

/** The entries that have a value, with long texts cut, added to `properties`. */
export function present(entries: Properties, properties: Properties = {}): Properties {
  for (const key in entries) {
    const value = entries[key];
    if (isPresent(value)) setOwnProperty(properties, key, toValue(value));
  }
  return properties;
}

export const isPresent = (value: unknown): boolean => value !== undefined && value !== null && value !== '';

export function cutToBytes(text: string, bytesMax: number): string {
  // A UTF-16 unit takes at most three bytes in UTF-8, so short texts need no counting.
  if (text.length * 3 <= bytesMax || Buffer.byteLength(text) <= bytesMax) return text;
  // A character that was cut decodes to U+FFFD, which may be longer than the removed bytes.
  return Buffer.from(text)
    .subarray(0, bytesMax)
    .toString('utf8')
    .replace(/\uFFFD+$/, '');
}
