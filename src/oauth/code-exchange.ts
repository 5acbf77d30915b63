// Exchange of an authorization code: the form of POST /oauth/token, compared with what the person
// has allowed, PKCE included.
import { createHash } from 'node:crypto';
import type { Redis } from '../platform/redis/client.js';
import { requireResource } from './authorization-request.js';
import type { Client, Clients } from './clients.js';
import { type Grant, takeGrant } from './codes.js';
import { OAuthError } from './errors.js';

type Form = Readonly<Record<string, unknown>>;

/** The code is used up, also when the form is refused after it has been found. */
export async function exchangeCode(
  redis: Redis,
  form: Form,
  { clients, resource }: { clients: Clients; resource: string },
): Promise<{ client: Client; grant: Grant }> {
  if (form.grant_type !== 'authorization_code') {
    throw new OAuthError('unsupported_grant_type', 'grant_type is not authorization_code');
  }
  for (const name of ['code', 'client_id', 'code_verifier']) {
    if (typeof form[name] !== 'string') throw new OAuthError('invalid_request', `${name} is required`);
  }
  const client = clients.tryRead(String(form.client_id));
  if (client === undefined) {
    throw new OAuthError('invalid_client', 'the client_id was not made here; register again');
  }
  requireResource(form.resource, resource, (problem) => new OAuthError('invalid_target', problem));
  const grant = await takeGrant(redis, String(form.code));
  if (grant === undefined) throw new OAuthError('invalid_grant', 'the code is unknown, used or older than a minute');
  requireOwnGrant(grant, form);
  return { client, grant };
}

function requireOwnGrant(grant: Grant, form: Form): void {
  if (grant.clientId !== form.client_id) throw new OAuthError('invalid_grant', 'the code is that of another client');
  if (form.redirect_uri !== undefined && form.redirect_uri !== grant.redirectUri) {
    throw new OAuthError('invalid_grant', 'the redirect_uri is not that of the authorization');
  }
  const challenge = createHash('sha256').update(String(form.code_verifier)).digest('base64url');
  if (challenge !== grant.challenge) {
    throw new OAuthError('invalid_grant', 'the code_verifier does not match the code_challenge');
  }
}
