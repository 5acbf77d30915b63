// Branded id types and the generators of random ids and keys.
import { randomBytes, randomFillSync } from 'node:crypto';

declare const brand: unique symbol;
type Branded<T, B extends string> = T & { readonly [brand]: B };

/** A project's UUID in lower case. A scan of events cannot be built without one. */
export type ProjectId = Branded<string, 'ProjectId'>;
export type OrganizationId = Branded<string, 'OrganizationId'>;

export const toProjectId = (uuid: string): ProjectId => uuid as ProjectId;
export const toOrganizationId = (uuid: string): OrganizationId => uuid as OrganizationId;

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

// Random bytes are generated in blocks: a call per id would dominate its cost.
const pool = Buffer.alloc(8192);
let poolOffset = pool.length;

function nextByte(): number {
  if (poolOffset === pool.length) {
    randomFillSync(pool);
    poolOffset = 0;
  }
  return pool[poolOffset++] as number;
}

/** Uniform base62 text of `length` characters: bytes of 248 and above are rejected and drawn again. */
export function randomBase62(length: number): string {
  let text = '';
  while (text.length < length) {
    const byte = nextByte();
    if (byte < 248) text += BASE62[byte % 62];
  }
  return text;
}

/** UUID version 7 (RFC 9562, section 5.7): 48 bits of Unix milliseconds, then 74 random bits. */
export function newUuidV7(nowMs: number = Date.now()): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(nowMs, 0, 6);
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x70;
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** Generated insert id: `evt_` and 16 random characters (95 bits). */
export const newInsertId = (): string => `evt_${randomBase62(16)}`;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** PostgreSQL rejects other texts in a comparison with a UUID; callers treat them as unknown ids. */
export const isUuid = (text: string): boolean => UUID.test(text);
