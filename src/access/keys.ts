// Keys: generation, format check, digest for storage, and encryption of keys that owners may read
// again.
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { randomBase62 } from '../platform/ids.js';
import { sha256 } from '../platform/sha256.js';

export const KEY_PREFIXES = { public: 'pk_', secret: 'sk_', admin: 'ak_', token: 'aat_' } as const;
export type KeyKind = keyof typeof KEY_PREFIXES;

const KEY_RANDOM_LENGTH = 32;
const SHOWN_LENGTH = 8;

/** Prefix and 32 base62 characters (190 bits). */
export const newKey = (kind: KeyKind): string => KEY_PREFIXES[kind] + randomBase62(KEY_RANDOM_LENGTH);

/** Kind of a key by prefix and format; undefined when the text is not a key. */
export function keyKindOf(text: string): KeyKind | undefined {
  for (const [kind, prefix] of Object.entries(KEY_PREFIXES)) {
    if (text.startsWith(prefix) && /^[0-9A-Za-z]{32}$/.test(text.slice(prefix.length))) return kind as KeyKind;
  }
  return undefined;
}

/** Stored digest. Keys are random, so a plain SHA-256 cannot be reversed by guessing. */
export const digestKey = (key: string): Buffer => sha256(key);

/** First characters, stored for display. */
export const shownPrefix = (key: string): string => key.slice(0, SHOWN_LENGTH);

const IV_BYTES = 12;
const TAG_BYTES = 16;

const encryptionKey = (secretKeyBase: string): Buffer =>
  Buffer.from(hkdfSync('sha256', secretKeyBase, '', 'event-analytics: secret keys', 32));

/** AES-256-GCM; layout: iv, tag, ciphertext. */
export function encryptSecret(text: string, secretKeyBase: string): Buffer {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv('aes-256-gcm', encryptionKey(secretKeyBase), iv);
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), body]);
}

/** Undefined when SECRET_KEY_BASE has changed or the bytes were modified. */
export function tryDecryptSecret(bytes: Buffer, secretKeyBase: string): string | undefined {
  try {
    const decipher = createDecipheriv('aes-256-gcm', encryptionKey(secretKeyBase), bytes.subarray(0, IV_BYTES));
    decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
    const body = decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES));
    return Buffer.concat([body, decipher.final()]).toString('utf8');
  } catch {
    return undefined;
  }
}
