// The limits of one event. The settings are named in the configuration and described in decisions of the interface.
import type { Config } from '../platform/config.js';

export interface EventLimits {
  readonly propertiesMax: number;
  readonly userPropertiesMax: number;
  readonly keyLengthMax: number;
  readonly valueBytesMax: number;
}

export const EVENT_TYPE_LENGTH_MAX = 256;
export const ID_LENGTH_MAX = 512;
/** Levels of a nested value. It is written by recursion again and again, at the edge and by workers, and each must be able to. */
export const VALUE_DEPTH_MAX = 500;

/**
 * The largest body that is read in the event loop; larger ones are in threads. The worst of this size take some 30 ms; a thread
 * costs half a millisecond more than it saves for ordinary ones.
 */
export const LOOP_BYTES_MAX = 128 * 1024;

export const toEventLimits = (config: Config): EventLimits => ({
  propertiesMax: config.MAX_PROPERTIES_COUNT,
  userPropertiesMax: config.MAX_USER_PROPS_COUNT,
  keyLengthMax: config.MAX_PROPERTY_KEY_LEN,
  valueBytesMax: config.MAX_PROPERTY_VALUE_LEN,
});

/** Whether a text has at most `max` characters (code points), counting only when it could matter. */
export function isWithinLength(text: string, max: number): boolean {
  if (text.length <= max) return true;
  if (text.length > max * 2) return false;
  let characters = 0;
  for (const _ of text) characters += 1;
  return characters <= max;
}

/** Whether a text takes at most `max` bytes of UTF-8, measuring only when it could matter. */
export function isWithinBytes(text: string, max: number): boolean {
  if (text.length * 3 <= max) return true;
  return text.length <= max && Buffer.byteLength(text, 'utf8') <= max;
}
