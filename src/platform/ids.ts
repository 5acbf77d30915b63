// Branded id types and the generators of random ids and keys.
import { randomFillSync } from 'node:crypto';
import { v7 } from 'uuid';

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

/**
 * Uniform base62 text of `length` characters: bytes of 248 and above are rejected and drawn again.
 */
export function randomBase62(length: number): string {
  let text = '';
  while (text.length < length) {
    const byte = nextByte();
    if (byte < 248) text += BASE62[byte % 62];
  }
  return text;
}

/** UUID version 7 (RFC 9562): starts with 48 bits of Unix milliseconds. */
export const newUuidV7 = (nowMs: number = Date.now()): string => v7({ msecs: nowMs });

/** Generated insert id: `evt_` and 16 random characters (95 bits). */
export const newInsertId = (): string => `evt_${randomBase62(16)}`;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/**
 * PostgreSQL rejects other texts in a comparison with a UUID; callers treat them as unknown ids.
 */
export const isUuid = (text: string): boolean => UUID.test(text);
