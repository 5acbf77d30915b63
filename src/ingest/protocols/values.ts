// Reads untyped values of calls, and copies their properties. It runs for every call, so it builds
// no intermediate objects.
import { textOf } from '../../platform/json-object.js';
import { setOwnProperty } from '../../platform/own-property.js';
import type { RawEvent } from '../body.js';
import { tryParseEventTime } from '../event-time.js';

/** Undefined for empty text and for anything but text or a number. */
export const idOf = (value: unknown): string | number | undefined =>
  typeof value === 'number' ? value : textOf(value);

export type Properties = Record<string, unknown>;

/** Adds what has a value. */
export function putPresent(properties: Properties, key: string, value: unknown): void {
  if (value !== undefined && value !== null && value !== '') properties[key] = value;
}

/** New names of properties; null leaves one out. */
export type Renames = ReadonlyMap<string, string | null>;

/**
 * Adds all properties under their names here. A value under its own name wins over a renamed one.
 */
export function putAll(properties: Properties, record: RawEvent, renames: Renames): void {
  for (const key in record) {
    const name = renames.size === 0 ? undefined : renames.get(key);
    if (name === undefined) setOwnProperty(properties, key, record[key]);
    else if (name !== null && !Object.hasOwn(record, name)) putPresent(properties, name, record[key]);
  }
}

/** A clock that is ahead by less than this counts as right. */
const AHEAD_TOLERANCE_MS = 60_000;
/**
 * An older `sentAt` may be that of a repetition: an SDK sends the same body up to three times more,
 * each 60 to 72 s after a 429. Its events keep their times, because time is a part of the key.
 */
const BEHIND_TOLERANCE_MS = 5 * 60_000;

/**
 * How far the clock of a sender is ahead of the clock here, milliseconds; negative when it is
 * behind, 0 when it is right or unknown.
 */
export function clockSkewMs(sentAt: unknown, now: number): number {
  const sentMs = typeof sentAt === 'string' || typeof sentAt === 'number' ? tryParseAnyTime(sentAt) : undefined;
  const skewMs = sentMs === undefined ? 0 : sentMs - now;
  return skewMs >= -BEHIND_TOLERANCE_MS && skewMs <= AHEAD_TOLERANCE_MS ? 0 : skewMs;
}

/** The time of an event by the clock here, when that of the sender is wrong. */
export function correctedTime(time: unknown, skewMs: number): number | undefined {
  const timeMs = skewMs === 0 ? undefined : tryParseAnyTime(time);
  return timeMs === undefined ? undefined : timeMs - skewMs;
}

/** A wrong clock may be years ahead. */
const tryParseAnyTime = (value: unknown): number | undefined => tryParseEventTime(value, Number.MAX_SAFE_INTEGER);
