// Limits of one event. The settings behind them are in src/platform/config.ts.
import type { Config } from '../platform/config.js';
import { BOUNDS } from '../platform/flow/bounds.js';

export interface EventLimits {
  readonly propertiesMax: number;
  readonly userPropertiesMax: number;
  readonly keyLengthMax: number;
  readonly valueBytesMax: number;
}

export const EVENT_TYPE_LENGTH_MAX = 256;
export const ID_LENGTH_MAX = 512;
/**
 * Nesting depth of a property value. The API and the workers serialize values recursively, so the
 * depth must fit every stack.
 */
export const VALUE_DEPTH_MAX = 500;

/** Larger bodies are parsed in threads. */
export const isParsedInLoop = (bytes: Buffer): boolean => bytes.length <= BOUNDS.loopBodyBytes;

export type LimitSettings = Pick<
  Config,
  'MAX_PROPERTIES_COUNT' | 'MAX_USER_PROPS_COUNT' | 'MAX_PROPERTY_KEY_LEN' | 'MAX_PROPERTY_VALUE_LEN'
>;

export const toEventLimits = (config: LimitSettings): EventLimits => ({
  propertiesMax: config.MAX_PROPERTIES_COUNT,
  userPropertiesMax: config.MAX_USER_PROPS_COUNT,
  keyLengthMax: config.MAX_PROPERTY_KEY_LEN,
  valueBytesMax: config.MAX_PROPERTY_VALUE_LEN,
});

/**
 * Whether a text has at most `max` characters (code points); counts them only when the length alone
 * does not decide.
 */
export function isWithinLength(text: string, max: number): boolean {
  if (text.length <= max) return true;
  if (text.length > max * 2) return false;
  let characters = 0;
  for (const _ of text) characters += 1;
  return characters <= max;
}

/**
 * Whether a text takes at most `max` bytes of UTF-8; measures it only when the length alone does
 * not decide.
 */
export function isWithinBytes(text: string, max: number): boolean {
  if (text.length * 3 <= max) return true;
  return text.length <= max && Buffer.byteLength(text, 'utf8') <= max;
}
