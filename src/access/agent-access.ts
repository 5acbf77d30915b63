// Credentials of agents, for POST /mcp: a token (aat_) in `Authorization: Bearer` or in X-API-Key.
// Keys (pk_, sk_, ak_) are refused: a token has scopes and an end, and can be revoked alone.
import type { Request, Response } from 'express';
import { AGENT_SCOPES, resourceMetadataUrl } from '../oauth/addresses.js';
import { PublicError } from '../platform/errors.js';
import { REALM } from './challenge.js';
import type { Credential, CredentialStore } from './credentials.js';
import { KEY_PREFIXES } from './keys.js';

/** Names the document that leads a client to the authorization by OAuth. */
const challengeOf = (publicUrl: URL): string =>
  `Bearer ${REALM}, resource_metadata="${resourceMetadataUrl(publicUrl)}"`;

/** The text of the credential, from either header; undefined when there is none. */
function givenKey({ headers }: Pick<Request, 'headers'>): string | undefined {
  const bearer = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1];
  const key = headers['x-api-key'];
  return bearer ?? (typeof key === 'string' && key !== '' ? key : undefined);
}

/** Whether the request has a token, valid or not. */
export const hasToken = (req: Pick<Request, 'headers'>): boolean =>
  givenKey(req)?.startsWith(KEY_PREFIXES.token) === true;

/**
 * Throws 401 with a challenge without a valid credential, and 403 for a key or for a token without
 * a scope of agents.
 */
export async function authenticateAgent(
  { credentials, publicUrl }: { credentials: CredentialStore; publicUrl: URL },
  req: Request,
  res: Response,
): Promise<Credential> {
  const key = givenKey(req);
  const credential = key === undefined ? undefined : await credentials.find(key);
  if (credential === undefined) {
    const challenge = challengeOf(publicUrl);
    res.setHeader('WWW-Authenticate', key === undefined ? challenge : `${challenge}, error="invalid_token"`);
    throw new PublicError(
      'unauthenticated',
      key === undefined
        ? 'a token is required in the header Authorization: Bearer aat_…'
        : 'the token is not valid; it may have expired or been revoked',
    );
  }
  if (credential.kind !== 'token') {
    throw new PublicError(
      'forbidden',
      `agents use a token (aat_…), not a ${credential.kind} key; create one in Settings`,
    );
  }
  if (!AGENT_SCOPES.some((scope) => credential.scopes.has(scope))) {
    const scopes = AGENT_SCOPES.join(' ');
    res.setHeader('WWW-Authenticate', `${challengeOf(publicUrl)}, error="insufficient_scope", scope="${scopes}"`);
    throw new PublicError('forbidden', `the token has none of the scopes ${AGENT_SCOPES.join(', ')}`);
  }
  return credential;
}
