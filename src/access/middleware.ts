// Turns the key of a request into its credential, or ends the request with 401 or 403.
import type { Request, RequestHandler, Response } from 'express';
import { PublicError } from '../platform/errors.js';
import type { AdminCredential, Credential, CredentialStore, Scope } from './credentials.js';
import { KEY_PREFIXES } from './keys.js';

/**
 * The credential must have `scope`. The key stands in `X-API-Key`; only a public key may stand in `?key=` instead,
 * since addresses end up in logs.
 */
export function requireCredential(store: CredentialStore, scope: Scope): RequestHandler {
  return async (req, res, next) => {
    res.locals.credential = await authenticate(store, scope, req);
    next();
  };
}

/** The same for a handler that has no chain in front of it. */
export async function authenticate(store: CredentialStore, scope: Scope, req: Request): Promise<Credential> {
  const credential = await store.find(readKey(req));
  if (credential === undefined) throw new PublicError('unauthenticated', 'the API key is not valid');
  if (credential.kind === 'admin') {
    throw new PublicError('forbidden', 'an organization admin key has no access to what is in a project');
  }
  if (!credential.scopes.has(scope)) {
    throw new PublicError('forbidden', `this ${credential.kind} key does not have the scope "${scope}"`);
  }
  return credential;
}

/** For /api/admin: only an organization's admin key will do. */
export async function authenticateAdmin(store: CredentialStore, req: Request): Promise<AdminCredential> {
  const credential = await store.find(readKey(req));
  if (credential === undefined) throw new PublicError('unauthenticated', 'the API key is not valid');
  if (credential.kind !== 'admin') {
    throw new PublicError('forbidden', 'an organization admin key (ak_…) is required');
  }
  return credential;
}

export const credentialOf = (res: Response): Credential => res.locals.credential as Credential;

function readKey(req: Request): string {
  const header = req.headers['x-api-key'];
  if (typeof header === 'string' && header !== '') return header;
  // Reading req.query parses the address: only done when there is something to parse.
  const query = req.url.includes('?') ? req.query.key : undefined;
  if (query === undefined) {
    throw new PublicError('unauthenticated', 'an API key is required in the header X-API-Key');
  }
  if (typeof query === 'string' && query.startsWith(KEY_PREFIXES.public)) return query;
  throw new PublicError('unauthenticated', 'only a public key (pk_…) may be passed as ?key=; use the header X-API-Key');
}
