// Properties of one profile with a size limit, because anyone with a public key can send
// properties.
import { Buffer } from 'node:buffer';
import type { Properties, PropertyValue } from './property-ops.js';

/** Size limit in UTF-8 bytes. */
export const PROFILE_BYTES_MAX = 256 * 1024;
const SCALAR_BYTES_MIN = 8;
/** The time of its last change, and punctuation. */
const PROPERTY_BYTES = 24;

function sizeOf(value: PropertyValue): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  return typeof value === 'number' ? Math.max(SCALAR_BYTES_MIN, digitsOf(value)) : SCALAR_BYTES_MIN;
}

/** PostgreSQL writes numbers without exponent: 1e300 has 301 digits. */
function digitsOf(value: number): number {
  const text = String(value);
  const at = text.indexOf('e');
  return at === -1 ? text.length : at + Math.abs(Number(text.slice(at + 1)));
}

/** Size of one property; its key is stored with the value and with the time. */
export const propertyBytes = (key: string, value: PropertyValue): number =>
  2 * Buffer.byteLength(key) + PROPERTY_BYTES + sizeOf(value);

/**
 * Ignores a value that would exceed the size limit; the previous value stays. Properties that it
 * begins with stay, too: those stored before November 2026 were counted as smaller.
 */
export class ProfileProperties extends Map<string, PropertyValue> {
  #bytes = 0;

  constructor(properties: Properties = {}) {
    super();
    for (const [key, value] of Object.entries(properties)) {
      this.#bytes += propertyBytes(key, value);
      super.set(key, value);
    }
  }

  override set(key: string, value: PropertyValue): this {
    const before = this.get(key);
    const growth = before === undefined ? propertyBytes(key, value) : sizeOf(value) - sizeOf(before);
    if (growth > 0 && this.#bytes + growth > PROFILE_BYTES_MAX) return this;
    this.#bytes += growth;
    return super.set(key, value);
  }

  override delete(key: string): boolean {
    const before = this.get(key);
    if (before !== undefined) this.#bytes -= propertyBytes(key, before);
    return super.delete(key);
  }
}
