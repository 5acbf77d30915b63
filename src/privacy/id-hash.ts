// Keyed hash (HMAC) that replaces the id of a person or device where the id must not be stored.
// Without SECRET_KEY_BASE it cannot be reversed, not even by trying all ids.
import { createHmac, hkdfSync } from 'node:crypto';

export type IdKind = 'user' | 'device';
export type HashId = (id: { projectId: string; kind: IdKind; id: string }) => string;

export function createIdHash(secretKeyBase: string): HashId {
  const key = Buffer.from(hkdfSync('sha256', secretKeyBase, '', 'event-analytics: erased ids', 32));
  // The project is part of the input, so that the same id has different hashes in two projects.
  return ({ projectId, kind, id }) =>
    createHmac('sha256', key).update(`${projectId}:${kind}:${id}`).digest('base64url');
}
