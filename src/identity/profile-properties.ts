// Properties of one profile with a size limit, because anyone with a public key can send
// properties.
import { Buffer } from 'node:buffer';
import type { Properties, PropertyValue } from './property-ops.js';

/** Size limit in UTF-8 bytes of keys and texts; a number or boolean counts eight. */
export const PROFILE_BYTES_MAX = 256 * 1024;
const SCALAR_BYTES = 8;

const sizeOf = (value: PropertyValue): number => (typeof value === 'string' ? Buffer.byteLength(value) : SCALAR_BYTES);

/** Size of one property. */
export const propertyBytes = (key: string, value: PropertyValue): number => Buffer.byteLength(key) + sizeOf(value);

/** Ignores a value that would exceed the size limit; the previous value stays. */
export class ProfileProperties extends Map<string, PropertyValue> {
  #bytes = 0;

  constructor(properties: Properties = {}) {
    super();
    for (const [key, value] of Object.entries(properties)) this.set(key, value);
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
