// The keyed hash that stands for the id of a person or device where the id itself must not be kept. Without
// SECRET_KEY_BASE nobody can tell whose it is, not even by trying all ids there are.
import { createHmac, hkdfSync } from 'node:crypto';

export type IdKind = 'user' | 'device';
export type HashId = (id: { projectId: string; kind: IdKind; id: string }) => string;

export function createIdHash(secretKeyBase: string): HashId {
  const key = Buffer.from(hkdfSync('sha256', secretKeyBase, '', 'event-analytics: erased ids', 32));
  // The project is part of what is hashed: one person in two projects is two hashes.
  return ({ projectId, kind, id }) =>
    createHmac('sha256', key).update(`${projectId}:${kind}:${id}`).digest('base64url');
}
