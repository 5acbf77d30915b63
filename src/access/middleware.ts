// Authentication middleware for keys: resolves the credential, or answers 401 or 403.
import type { Request, RequestHandler, Response } from 'express';
import { PublicError } from '../platform/errors.js';
import type { PlainRequest } from '../platform/http/plain-request.js';
import { KeyRequired } from './challenge.js';
import type { AdminCredential, Credential, CredentialStore } from './credentials.js';
import { KEY_PREFIXES } from './keys.js';
import type { Scope } from './roles.js';

/**
 * Requires `scope`. The key is in `X-API-Key`; only public keys are accepted in `?key=`, because
 * URLs end up in logs.
 */
export function requireCredential(store: CredentialStore, scope: Scope): RequestHandler {
  return async (req, res, next) => {
    res.locals.credential = await authenticate(store, scope, req);
    next();
  };
}

/** The same check as a function for handlers. */
export const authenticate = (store: CredentialStore, scope: Scope, req: PlainRequest): Promise<Credential> =>
  authenticateKey(store, scope, readKey(req));

/** The same for a key that was read from another place of the request. */
export async function authenticateKey(store: CredentialStore, scope: Scope, key: string): Promise<Credential> {
  const credential = await store.find(key);
  if (credential === undefined) throw new KeyRequired('the API key is not valid');
  if (credential.kind === 'admin') {
    throw new PublicError('forbidden', 'an organization admin key has no access to what is in a project');
  }
  if (!credential.scopes.has(scope)) {
    throw new PublicError('forbidden', `this ${credential.kind} key does not have the scope "${scope}"`);
  }
  return credential;
}

/** For /api/admin: requires an organization's admin key. */
export async function authenticateAdmin(store: CredentialStore, req: Request): Promise<AdminCredential> {
  const credential = await store.find(readKey(req));
  if (credential === undefined) throw new KeyRequired('the API key is not valid');
  if (credential.kind !== 'admin') {
    throw new PublicError('forbidden', 'an organization admin key (ak_…) is required');
  }
  return credential;
}

export const credentialOf = (res: Response): Credential => res.locals.credential as Credential;

/** Whether the request has a key in `X-API-Key` or `?key=`. */
export const hasKey = (req: PlainRequest): boolean =>
  Boolean(req.headers['x-api-key']) || (req.url.includes('?') && req.query.key !== undefined);

function readKey(req: PlainRequest): string {
  const header = req.headers['x-api-key'];
  if (typeof header === 'string' && header !== '') return header;
  // req.query parses the URL on access: avoid it when there is no query string.
  const query = req.url.includes('?') ? req.query.key : undefined;
  if (query === undefined) {
    throw new KeyRequired('an API key is required in the header X-API-Key');
  }
  if (typeof query === 'string' && query.startsWith(KEY_PREFIXES.public)) return query;
  throw new KeyRequired('only a public key (pk_…) may be passed as ?key=; use the header X-API-Key');
}
